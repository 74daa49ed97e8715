import assert from "node:assert/strict";
import { volumesAsBytes } from "@/lib/campaigns/projection/volume_bytes.ts";
import { volumeIdentity } from "@/lib/campaigns/projection/volume_identity.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";

Deno.test("volume identity: a volume that is listed again has the line where it came first", () => {
  const { first } = volumeIdentity(readVolumes("a\nb\tx\n\na\ty\nc\nb\n"));
  assert.deepEqual([0, 1, 2, 3, 4].map(first), [0, 1, 0, 3, 1]);
  const once = volumeIdentity(readVolumes("a\nb\nc"));
  assert.deepEqual([0, 1, 2].map(once.first), [0, 1, 2]);
});

Deno.test("volume identity: the digest tells ids and their order, not the sources nor the form of the list", () => {
  const digest = (text: string) => volumeIdentity(readVolumes(text)).digest;
  assert.equal(digest("å\tx\r\nb"), volumeIdentity(volumesAsBytes("å\ty\nb\n")).digest);
  assert.equal(new Set(["a\nb", "b\na", "ab", "a\nb\nc", "a"].map(digest)).size, 5);
});
