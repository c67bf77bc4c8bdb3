// SPDX-License-Identifier: MIT
// Cubes in 3D: one InstancedMesh, a light with shadows, and a camera that a person turns.
//
//     npm install && node ../../serve.mjs . http://127.0.0.1:7780      (shoal-server --game cubes --http 127.0.0.1:7780)
import {join} from "shoal";

const joining = join(`/play${location.hash}`); // while the engine loads
const [THREE, {OrbitControls}] = await Promise.all([import("three"), import("three/addons/controls/OrbitControls.js")]);

const SIDE = 200, ROOM = 1 << 14; // of the world; cubes at most
const note = document.querySelector("#note");
const match = await joining.catch((fault) => { note.textContent = fault.message; throw fault; });

const renderer = new THREE.WebGLRenderer({antialias: devicePixelRatio === 1});
renderer.shadowMap.enabled = true;
document.body.append(renderer.domElement);
const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(50, 1, 1, 2000);
scene.background = new THREE.Color(0x0b0e14);
camera.position.set(190, 130, 260).multiplyScalar(innerWidth < innerHeight ? 1.6 : 1);
const controls = new OrbitControls(camera, renderer.domElement);
controls.enableDamping = true;

const sun = new THREE.DirectionalLight(0xfff2dd, 2.5), around = SIDE;
sun.position.set(120, 260, 80);
sun.castShadow = true;
sun.shadow.mapSize.set(1024, 1024);
Object.assign(sun.shadow.camera, {left: -around, right: around, top: around, bottom: -around, far: 700});
const ground = new THREE.Mesh(new THREE.PlaneGeometry(SIDE * 3, SIDE * 3), new THREE.MeshLambertMaterial({color: 0x26303f}));
ground.rotation.x = -Math.PI / 2;
ground.position.y = -SIDE / 2;
ground.receiveShadow = true;
const cubes = new THREE.InstancedMesh(new THREE.BoxGeometry(), new THREE.MeshLambertMaterial(), ROOM);
cubes.castShadow = cubes.receiveShadow = true;
cubes.frustumCulled = false;
scene.add(sun, new THREE.HemisphereLight(0x9fb8ff, 0x30281e, 1.2), ground, cubes);

const body = new THREE.Object3D(), color = new THREE.Color();
body.rotation.order = "ZYX"; // as the game turns them
function show() {
    let count = 0;
    match.world.each("transform", "spawn", (entity, {position, rotation, scale}, spawn) => {
        if (count === ROOM) return;
        body.position.set(position.x, position.y, position.z);
        body.rotation.set(rotation.x, rotation.y, rotation.z);
        body.scale.set(scale.x, scale.y, scale.z);
        body.updateMatrix();
        cubes.setMatrixAt(count, body.matrix);
        cubes.setColorAt(count++, color.setHSL(spawn.seed % 360 / 360, 0.55, 0.6));
    });
    cubes.count = count;
    cubes.instanceMatrix.needsUpdate = true;
    if (cubes.instanceColor) cubes.instanceColor.needsUpdate = true;
    return count;
}

function resize() {
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(innerWidth, innerHeight);
    camera.aspect = innerWidth / innerHeight;
    camera.fov = camera.aspect < 1 ? 75 : 50; // a phone
    camera.updateProjectionMatrix();
}
addEventListener("resize", resize);
resize();

match.onphase = (phase, end) => { note.textContent = phase === "ended" ? match.meter.refusal || `The match ended: ${end}` : phase === "playing" ? "" : phase; };
renderer.setAnimationLoop(() => {
    if (!match.frame()) return;
    const count = show();
    controls.update();
    renderer.render(scene, camera);
    if (match.phase === "playing") note.textContent = `${count} cubes, round trip ${Math.round(match.meter.rttMs)} ms. Drag to look around.`;
    window.example = {match, count, first_ms: window.example?.first_ms ?? performance.now()};
});
