/** Runs an attack in a separate process, which does not slow the user: name, seconds, host, port, own address. */
import { ATTACKS } from "./attacks.ts";
import type { Tally } from "./hostile_connections.ts";

const [name, seconds, host, port, localAddress] = Deno.args;
const attack = ATTACKS.find((attack) => attack.name === name);
if (!attack) throw new Error(`no attack ${name}`);
const stop = new AbortController();
setTimeout(() => stop.abort(), Number(seconds) * 1000);
const got: Tally = {};
await attack.run({ host, port: Number(port), localAddress }, stop.signal, got);
console.log(JSON.stringify(got));
