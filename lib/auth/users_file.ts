import { Buffer } from "node:buffer";
import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { unavailable } from "@/lib/http/errors.ts";
import { Slots } from "@/lib/http/request_context.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { FairSlots } from "@/lib/std/concurrency.ts";

const MAX_CACHED_CHECKS = 1000;
/** Checks that run at once: each takes about 16 MiB and some ten milliseconds of a core. */
const MAX_RUNNING_CHECKS = 2;
const MAX_WAITING_CHECKS = 32;
/** Largest memory that one hash may take, bytes. */
const MAX_SCRYPT_BYTES = 64 * 1024 * 1024;
const DEFAULT_COST: ScryptCost = { N: 16384, r: 8, p: 1 };
const KEY_BYTES = 32;

interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

interface UserHash extends ScryptCost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Whether a password is that of a name. */
export type UserCheck = (name: string, password: string) => Promise<boolean>;

/**
 * Reads a users file: one `name:scrypt$N$r$p$salt$hash` per line (salt and hash in base64). Skips empty lines and lines
 * that start with `#`.
 *
 * @throws Error naming the line, never its content
 */
export function parseUsersFile(text: string): ReadonlyMap<string, UserHash> {
  const users = new Map<string, UserHash>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.lastIndexOf(":");
    const hash = colon > 0 ? parseHash(line.slice(colon + 1).trim()) : null;
    if (!hash) throw new Error(`line ${index + 1}: expected name:scrypt$N$r$p$salt$hash`);
    users.set(line.slice(0, colon), hash);
  }
  return users;
}

/** The line of a users file for a name and a password. @throws Error when one of them is empty or breaks the line */
export async function usersFileLine(name: string, password: string): Promise<string> {
  if (name === "" || name.startsWith("#") || /[\r\n]/.test(name)) throw new Error("the name does not fit in a line");
  if (password === "") throw new Error("the password is empty");
  const salt = randomBytes(16);
  const { N, r, p } = DEFAULT_COST;
  const hash = await derive(password, { ...DEFAULT_COST, salt, hash: Buffer.alloc(KEY_BYTES) });
  return `${name}:scrypt$${N}$${r}$${p}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/**
 * A check against a users file. Successes are cached under a keyed hash, so only the first request of a login pays for
 * scrypt; an unknown name costs as much as a wrong password.
 *
 * The check throws HttpError 503 when too many first checks are waiting.
 */
export function usersFileCheck(users: ReadonlyMap<string, UserHash>): UserCheck {
  const accepted = new CountedCache<string, true>("user_passwords", { max: MAX_CACHED_CHECKS });
  const secret = randomBytes(32);
  // With the cost of the file's own hashes: the duration must not reveal which names are in it.
  const [{ N, r, p }] = [...users.values(), DEFAULT_COST];
  const unknownUser: UserHash = { N, r, p, salt: randomBytes(16), hash: randomBytes(KEY_BYTES) };
  const inTurn = inTurns();
  return async function usersFileCheck(name, password) {
    const digest = createHmac("sha256", secret).update(JSON.stringify([name, password])).digest("base64");
    if (accepted.get(digest)) return true;
    const user = users.get(name);
    const derived = await inTurn(() => derive(password, user ?? unknownUser));
    const right = timingSafeEqual(derived, (user ?? unknownUser).hash) && user !== undefined;
    if (right) accepted.set(digest, true);
    return right;
  };
}

function parseHash(text: string): UserHash | null {
  const match = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,2})\$([\w+/=-]+)\$([\w+/=-]+)$/.exec(text);
  if (!match) return null;
  const [N, r, p] = match.slice(1, 4).map(Number);
  const salt = Buffer.from(match[4], "base64");
  const hash = Buffer.from(match[5], "base64");
  const powerOfTwo = N > 1 && (N & (N - 1)) === 0;
  const sound = powerOfTwo && r > 0 && p > 0 && 128 * N * r <= MAX_SCRYPT_BYTES && salt.length >= 8 &&
    hash.length >= 16;
  return sound ? { N, r, p, salt, hash } : null;
}

function derive(password: string, { N, r, p, salt, hash }: UserHash): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N, r, p, maxmem: 2 * MAX_SCRYPT_BYTES };
    scrypt(password, salt, hash.length, options, (error, key) => error ? reject(error) : resolve(key));
  });
}

/** Runs a few checks at a time, in their order. @throws HttpError 503 when too many wait */
function inTurns() {
  const admitted = new Slots(MAX_RUNNING_CHECKS + MAX_WAITING_CHECKS);
  const turns = new FairSlots(MAX_RUNNING_CHECKS);
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const leave = admitted.enter();
    if (typeof leave === "string") throw unavailable("Too many logins at once", 1, "logins_full");
    const end = await turns.enter("");
    try {
      return await work();
    } finally {
      end();
      leave();
    }
  };
}
