// SPDX-License-Identifier: MIT
/// Inside of a presenter. What a client feeds to it: client/presenter_face.h.
#pragma once

#include "client/presenter_face.h"
#include "present/predict.h"
#include "present/scene.h"

/// @return What it shows, for a viewer that has no client: it is fed and moved by that alone, after
/// net_match_mirror_start. Borrowed.
net_scene* net_presenter_scene(net_presenter* presenter);
/// @return The prediction; NULL: the module predicts nothing. Borrowed.
net_predict* net_presenter_predict(net_presenter* presenter);
