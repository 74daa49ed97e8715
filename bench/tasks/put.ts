import { S3Wire } from "@/bench/wire/s3_wire.ts";
import { SMALL_KEY } from "./beside.ts";
import { BUCKET, type Site } from "./sites.ts";

const CONNECTIONS = 8;
const BLOCK = new Uint8Array(1024 * 1024).fill(0x63);

/** Puts the object that is read beside a task. */
export async function putSmall(site: Site): Promise<void> {
  await putAll(site, [SMALL_KEY], 1024);
}

/** Puts objects of one size straight into the store, several at a time. */
export async function putAll({ store }: Site, keys: readonly string[], bodyBytes: number): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const wire = new S3Wire(store);
    while (next < keys.length) {
      const key = keys[next++];
      await wire.succeed({ method: "PUT", bucket: BUCKET, key, body: { size: bodyBytes, parts: blocks(bodyBytes) } });
    }
    wire.close();
  }));
}

function* blocks(size: number): Generator<Uint8Array> {
  for (let left = size; left > 0; left -= BLOCK.length) yield BLOCK.subarray(0, Math.min(left, BLOCK.length));
}
