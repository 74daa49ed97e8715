const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * A text as one word of a POSIX shell. One with characters that a terminal would act on is written in ASCII, as
 * `$'…'` (POSIX 2024; bash, zsh, ksh): a text that is pasted could end the paste and run what follows.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const written = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w@%+=:,./ -]/.test(character) ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `$'${written.join("")}'`;
}

/** An object and a link to it. */
interface SharedObject {
  readonly bucket: string;
  readonly key: string;
  /** Presigned. */
  readonly url: string;
}

/** Saves the object by its link, with curl. */
export function curlCommand({ key, url }: SharedObject): string {
  return `curl --fail --globoff --output ${shellWord(fileOf(key))} ${shellWord(url)}`;
}

/**
 * Saves the object with the AWS CLI and its own credentials. Null for keys that the CLI cannot take: it reads texts such
 * as `file://x` from a file, and no argument holds NUL.
 */
export function awsCommand({ bucket, key, url }: SharedObject): string | null {
  if (/^(?:fileb?|https?):\/\//i.test(key) || key.includes("\0")) return null;
  const words = [`--endpoint-url=${endpointOf(url, bucket)}`, `--bucket=${bucket}`, `--key=${key}`, fileOf(key)];
  return `aws s3api get-object ${words.map(shellWord).join(" ")}`;
}

/** A name in the working folder: the last segment of the key without what no file's name holds. */
function fileOf(key: string): string {
  const segments = key.split("/").filter((segment) => segment !== "");
  const name = (segments.at(-1) ?? "").replace(/[\p{Cc}\\:]/gu, "_");
  return name === "" || name === "." || name === ".." ? "object" : `./${name}`;
}

/** Without the bucket, which is a part of the host where the store has virtual hosts. */
function endpointOf(url: string, bucket: string): string {
  const { protocol, host } = new URL(url);
  const prefix = `${bucket.toLowerCase()}.`;
  return `${protocol}//${host.startsWith(prefix) ? host.slice(prefix.length) : host}`;
}

/** The places from which an address can be reached: this machine, its own network, or anywhere. */
export type Reach = "machine" | "network" | "anywhere";

/** Suffixes of private names (RFC 6762, RFC 8375, RFC 9476, and common use). */
const OWN_NAMES = /\.(?:local|lan|home|intranet|internal|corp|home\.arpa|test|localdomain)$/;

/** How far a link can be opened, by the host in its address. A name may still be known in one network only. */
export function reachOf(url: string): Reach {
  const host = new URL(url).hostname.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return "machine";
  const version4 = /^(?:::ffff:)?(\d+)\.(\d+)\.\d+\.\d+$/.exec(host) ?? mapped(host);
  if (version4) return reachOfVersion4(Number(version4[1]), Number(version4[2]));
  if (host.includes(":")) return reachOfVersion6(host);
  return !host.includes(".") || OWN_NAMES.test(host) ? "network" : "anywhere";
}

/** Blocks of the IANA registry of special-purpose addresses. */
function reachOfVersion4(first: number, second: number): Reach {
  if (first === 127 || first === 0) return "machine";
  const isPrivate = first === 10 || (first === 192 && second === 168) || (first === 172 && second >> 4 === 1) ||
    (first === 169 && second === 254) || (first === 100 && second >> 6 === 1);
  return isPrivate ? "network" : "anywhere";
}

function reachOfVersion6(host: string): Reach {
  if (host === "::1" || host === "::") return "machine";
  return /^(?:f[cd]|fe[89ab])/.test(host) ? "network" : "anywhere";
}

/** An address of version 4 within one of version 6, as URLs write it: `::ffff:7f00:1`. */
function mapped(host: string): [string, string, string] | null {
  const parts = /^::ffff:([0-9a-f]{1,4}):[0-9a-f]{1,4}$/.exec(host);
  if (!parts) return null;
  const high = parseInt(parts[1], 16);
  return [host, String(high >> 8), String(high & 255)];
}
