import { createHash } from "node:crypto";
import type { VolumeList } from "./volumes.ts";

/** What tells one list of volumes, and each volume in it, from others. */
interface VolumeIdentity {
  /** Of the ids in their order, base64url. */
  readonly digest: string;
  /** The first line with the id of a line: the line itself, unless volumes.txt lists the volume twice. */
  first(index: number): number;
}

/** Computed once for each list, since requests for a campaign's detail share it. */
const identities = new WeakMap<VolumeList, VolumeIdentity>();

/** The identity of a list of volumes. */
export function volumeIdentity(volumes: VolumeList): VolumeIdentity {
  let identity = identities.get(volumes);
  if (!identity) identities.set(volumes, identity = readIdentity(volumes.idLines()));
  return identity;
}

function readIdentity(idLines: string): VolumeIdentity {
  const digest = createHash("sha256").update(idLines.toWellFormed()).digest("base64url");
  const ids = idLines.split("\n");
  // Nearly all lists name each volume once: nothing is stored for them.
  if (new Set(ids).size === ids.length) return { digest, first: (index) => index };
  const lines = firstLines(ids);
  return { digest, first: (index) => lines[index] };
}

/** Of each id the first line that has it. A function of its own, so that what is returned does not retain the ids. */
function firstLines(ids: readonly string[]): Uint32Array {
  const first = new Map<string, number>();
  ids.forEach((id, index) => first.has(id) || first.set(id, index));
  return Uint32Array.from(ids, (id) => first.get(id)!);
}
