// SPDX-License-Identifier: MIT
// The surface of shoal.js. `GAME.d.ts`, which types.mjs writes, has a type Game for the parameter G; without one every name passes.

/** What a game has. A scalar component is its value, a tag true, a text or a list a string, all others an object of fields. */
export interface Schema {
    components: Record<string, unknown>;
    input: object;
    toServer: Record<string, object>;
    toClients: Record<string, object>;
    templates: string;
}
export interface AnyGame extends Schema {
    components: Record<string, any>;
    input: Record<string, unknown>;
    toServer: Record<string, Record<string, unknown>>;
    toClients: Record<string, any>;
}
/** A handle, the same number as on the server; 0: none. */
export type Entity = number;
/** A field with several numbers; `at(i)` of 0..length-1. */
export interface List {
    readonly x: number;
    readonly y: number;
    readonly z: number;
    readonly w: number;
    readonly length: number;
    at(index: number): number;
}
export type Phase = "connecting" | "greeting" | "playing" | "resuming" | "ended";
export type End = "goodbye" | "left" | "lost" | "unreachable" | "refused" | "exchanged" | "transferred" | null;

type Name<G extends Schema> = keyof G["components"] & string;
/** A component that an entity must have, or "name?" for one that it may have. */
export type Term<G extends Schema> = Name<G> | `${Name<G>}?`;
type Value<G extends Schema, T> = T extends `${infer N}?` ? G["components"][N] | undefined : T extends string ? G["components"][T] : never;
type Values<G extends Schema, T extends readonly unknown[]> = {[K in keyof T]: Value<G, T[K]>};
type Copy<V> = V extends List ? number[] : V extends object ? {[K in keyof V]: Copy<V[K]>} : V;

export interface Watch<G extends Schema, T extends readonly unknown[]> {
    appear?(entity: Entity, ...values: Values<G, T>): void;
    change?(entity: Entity, ...values: Values<G, T>): void;
    disappear?(entity: Entity): void;
}

export interface World<G extends Schema = AnyGame> {
    /** The moment in ticks; of the shown world with parts of a tick. */
    readonly tick: number;
    /** Call fn for each entity that has the components, at most 4. Views are valid during the call. */
    each(fn: (entity: Entity) => void): void;
    each<A extends Term<G>>(a: A, fn: (entity: Entity, ...values: Values<G, [A]>) => void): void;
    each<A extends Term<G>, B extends Term<G>>(a: A, b: B, fn: (entity: Entity, ...values: Values<G, [A, B]>) => void): void;
    each<A extends Term<G>, B extends Term<G>, C extends Term<G>>(a: A, b: B, c: C, fn: (entity: Entity, ...values: Values<G, [A, B, C]>) => void): void;
    each<A extends Term<G>, B extends Term<G>, C extends Term<G>, D extends Term<G>>(
        a: A, b: B, c: C, d: D, fn: (entity: Entity, ...values: Values<G, [A, B, C, D]>) => void): void;
    /** A copy of a value; undefined: the entity does not live, or does not have it. */
    get<N extends Name<G>>(entity: Entity, name: N): Copy<G["components"][N]> | undefined;
    /** The name of its template; null: it does not live. */
    template(entity: Entity): G["templates"] | null;
    /** Call after each frame for what came, what has another value, and what went. Returns what ends it. */
    watch<A extends Term<G>>(a: A, calls: Watch<G, [A]>): () => void;
    watch<A extends Term<G>, B extends Term<G>>(a: A, b: B, calls: Watch<G, [A, B]>): () => void;
    watch<A extends Term<G>, B extends Term<G>, C extends Term<G>>(a: A, b: B, c: C, calls: Watch<G, [A, B, C]>): () => void;
}

export interface Meter {
    refusal: string;
    /** With the end "transferred": the page to go on to, "" without one, and the token that lets this player in. */
    transfer: {page: string; token: string; why: string};
    /** Why the match stands still; "": it does not. */
    still: string;
    rttMs: number;
    lossPercent: number;
    inBytes: number;
    outBytes: number;
    resumes: number;
    delayMs: number;
    leadMs: number;
    corrections: number;
    frames: number;
    stalls: number;
}

export interface Match<G extends Schema = AnyGame> {
    /** Interpolated between packets, own entities predicted: what a picture shows. */
    readonly shown: World<G>;
    /** As the newest packet has it. */
    readonly newest: World<G>;
    /** The same as shown. */
    readonly world: World<G>;
    readonly phase: Phase;
    readonly end: End;
    /** The number of this player, 1, 2... */
    readonly client: number;
    /** The player's own entity; 0: none yet. */
    readonly player: Entity;
    readonly players: {client: number; name: string}[];
    readonly meter: Meter;
    /** A token for this player, as the server renewed it. */
    readonly token: string;
    onphase?: (phase: Phase, end: End) => void;
    onwarning: (line: string) => void;
    /** Receive, run the ticks that are due, bring `shown` to this moment: once before each picture. Is there something to show? */
    frame(): boolean;
    readonly input: {
        /** Sent with each tick from now on. Fields that are not named stay; a number becomes the nearest that its field can hold. */
        set(values: Partial<G["input"]>): void;
    };
    /** Send a message, reliably. false: the queue is full or the line broken; try again in the next tick. */
    send<M extends keyof G["toServer"] & string>(message: M, values?: Partial<G["toServer"][M]>): boolean;
    /** Call fn when the picture shows the moment of a message. Returns what ends it. */
    on<M extends keyof G["toClients"] & string>(message: M, fn: (values: Copy<G["toClients"][M]>, about: {tick: number; target: Entity}) => void): () => void;
    /** With it another page goes on as the same player within 30 s (JoinOptions.secret). */
    secret(): Uint8Array | null;
    /** After the end "transferred": join the match where the player goes on, which may be of another game. At most 6 times in a minute. */
    follow<N extends Schema = G>(): Promise<Match<N>>;
    /** Say goodbye; resolves at the end. */
    leave(): Promise<void>;
    /** End without a goodbye: the server keeps the player for 30 s. */
    close(): void;
}

export interface JoinOptions {
    /** Needed with an address of a WebSocket, and of a host. */
    game?: string;
    /** Of the player. */
    name?: string;
    /** Where the server has keys: a line of shoal-server token. */
    token?: string;
    /** Where the game's wasm is; the server's own otherwise. */
    wasm?: string | URL | BufferSource | WebAssembly.Module;
    /** WebSocket addresses of the match's servers and standbys; those that the link names otherwise. */
    urls?: string[];
    secret?: Uint8Array | number[] | null;
    /** false: a page that is loaded again joins as another player. */
    resume?: boolean;
    /** For a host: further fields of the request. */
    filter?: object;
}

/** Join a match: a page's link "http://HOST/play#join=TOKEN", a host "http://HOST/v1/join", or "ws://HOST/play/socket". Rejects with the reason. */
export function join<G extends Schema = AnyGame>(url: string | URL, options?: JoinOptions): Promise<Match<G>>;

export interface Log<G extends Schema = AnyGame> {
    readonly world: World<G>;
    readonly tick: number;
    readonly first: number;
    readonly last: number;
    readonly info: {game: string; build: string; tickRate: number; keyframes: number[]};
    /** Joins, leaves, reliable events of the game, marks of an operator. */
    readonly marks: {tick: number; kind: "join" | "leave" | "event" | "named"; client: number; message: number; name: string}[];
    readonly players: {client: number; name: string; entity: string | null}[];
    seek(tick: number): void;
    /** From now on frame() goes on, `speed` times as fast as the match was; 0: it stands still. */
    play(speed?: number): void;
    /** Once before each picture. Is there more? */
    frame(now?: number): boolean;
}

/** Open an event log, with the game's wasm of the build that wrote it. */
export function openLog<G extends Schema = AnyGame>(bytes: ArrayBuffer | Uint8Array, options: {game?: string; wasm?: JoinOptions["wasm"]}): Promise<Log<G>>;
