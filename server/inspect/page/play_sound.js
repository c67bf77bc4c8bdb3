// SPDX-License-Identifier: MIT
// The game's sounds by WebAudio. Browsers let a page sound only after the person did something.
const VOICES_MAX = 32;

export class Sound {
    constructor(tables, files) {
        this.tables = tables;
        this.files = files; // name -> bytes
        this.context = null;
        this.buffers = new Map();
        this.voices = 0;
        this.isOn = localStorage.getItem("shoal-sound") !== "off";
    }

    /// The person did something.
    async begin() {
        if (navigator.userActivation?.hasBeenActive === false) return;
        if (this.context || !this.isOn || typeof AudioContext === "undefined" || this.tables.sounds.length + this.tables.music.length === 0) return;
        const context = this.context = new AudioContext();
        this.gain = context.createGain();
        this.gain.connect(context.destination);
        for (const name of new Set([...this.tables.sounds, this.tables.music])) {
            const bytes = this.files.get(name);
            try {
                if (bytes) this.buffers.set(name, await context.decodeAudioData(bytes.slice().buffer));
            } catch {
                console.warn(`${name} cannot be played here`);
            }
        }
        if (this.buffers.has(this.tables.music)) this.start(this.tables.music, this.tables.musicVolume, true);
    }

    start(name, volume, isLoop) {
        const source = this.context.createBufferSource(), gain = this.context.createGain();
        source.buffer = this.buffers.get(name);
        source.loop = isLoop;
        gain.gain.value = volume;
        source.connect(gain).connect(this.gain);
        source.onended = () => { this.voices--; };
        this.voices++;
        source.start();
    }

    play(heard) {
        if (!this.context || !this.isOn) return;
        for (const {sound, volume} of heard) {
            const name = this.tables.sounds[sound];
            if (this.buffers.has(name) && this.voices < VOICES_MAX) this.start(name, volume, false);
        }
    }

    /// @return is it on now?
    toggle() {
        this.isOn = !this.isOn;
        localStorage.setItem("shoal-sound", this.isOn ? "on" : "off");
        if (this.gain) this.gain.gain.value = this.isOn ? 1 : 0;
        void this.begin();
        return this.isOn;
    }
}
