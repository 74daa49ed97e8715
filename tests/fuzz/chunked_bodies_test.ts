import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { awsChunked } from "@/embedded/store/s3/received_body.ts";
import { ChunkSignatures } from "@/embedded/store/s3/sigv4.ts";
import { cuts, fuzz, inPieces, isStoreError, nearBytes, resolvedOr } from "./hostile.ts";

const TRAILER = "x-amz-checksum-crc32c";
const BODIES = [
  "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
  `b\r\nhello world\r\n0\r\n${TRAILER}:yZRlqg==\r\n\r\n`,
  `B\r\nhello world\r\n0\r\n${TRAILER}:yZRlqg==\n\r\n\r\n`,
  `b;chunk-signature=${"0".repeat(64)}\r\nhello world\r\n0;chunk-signature=${"0".repeat(64)}\r\n\r\n`,
];
const WORDS = [
  "\r\n",
  "0\r\n",
  "\n",
  "ffffffffffff\r\n",
  ";chunk-signature=",
  `${TRAILER}:`,
  "+1\r\n",
  "0x1\r\n",
  "1 \r\n",
];
const SIZE = 11;

interface Decoded {
  readonly text: string;
  readonly trailers: readonly (readonly [string, string])[];
}

async function decoded(
  bytes: Uint8Array,
  expected: string[],
  cuts: readonly number[],
  signed = false,
): Promise<Decoded> {
  const stated = {
    accessKey: "a",
    scope: "20261120/us-east-1/s3/aws4_request",
    time: "20261120T000000Z",
    signedHeaders: ["host"],
    signature: "0".repeat(64),
    payload: "",
  };
  const signatures = signed ? new ChunkSignatures(stated, "secret") : null;
  const body = awsChunked({ signatures, hasTrailer: expected.length > 0 }, SIZE, expected);
  const found: Uint8Array[] = [];
  for await (const part of body.decode(ReadableStream.from(inPieces(bytes, cuts)))) found.push(part.slice());
  return { text: Buffer.concat(found).toString("latin1"), trailers: [...body.trailers] };
}

/** The same in the plainest way, from the whole body; null where it is no such body. */
function oracle(body: string, hasTrailer: boolean): Decoded | null {
  let text = "";
  let rest = body;
  const line = () => {
    const end = rest.indexOf("\n");
    if (end < 0) return null;
    const found = rest.slice(0, end).replace(/\r$/, "");
    rest = rest.slice(end + 1);
    return found;
  };
  for (;;) {
    const size = line();
    if (size === null || !/^[0-9a-f]{1,12}(?:;chunk-signature=[0-9a-f]{64})?$/i.test(size)) return null;
    const length = parseInt(size, 16);
    if (rest.length < length) return null;
    text += rest.slice(0, length);
    rest = rest.slice(length);
    if (length === 0) break;
    if (line() !== "") return null;
  }
  const trailers: [string, string][] = [];
  for (let found = line(); found !== null; found = line()) {
    if (found === "") continue;
    const match = /^x-amz-checksum-crc32c:[ \t]*(.*?)[ \t]*$/i.exec(found);
    if (!hasTrailer || !match || trailers.length > 0) return null;
    trailers.push([TRAILER, match[1]]);
  }
  const isWhole = rest === "" && text.length === SIZE && trailers.length === (hasTrailer ? 1 : 0);
  return isWhole ? { text, trailers } : null;
}

fuzz("aws-chunked bodies", {
  inputs: fc.tuple(
    nearBytes(BODIES, WORDS),
    cuts,
    fc.boolean(),
  ),
  async check([bytes, cuts, hasTrailer]) {
    const expected = hasTrailer ? [TRAILER] : [];
    const found = await resolvedOr(() => decoded(bytes, expected, cuts), isStoreError);
    const wanted = oracle(Buffer.from(bytes).toString("latin1"), hasTrailer);
    if (found !== null || bytes.length < 200) assert.deepEqual(found, wanted);
    const signed = await resolvedOr(() => decoded(bytes, expected, cuts, true), isStoreError);
    assert.equal(signed, null, "none of these has a signature that holds");
  },
  growth: {
    seeds: BODIES,
    words: WORDS,
    read: (text) => resolvedOr(() => decoded(Buffer.from(text, "latin1"), [TRAILER], [65_536]), isStoreError),
  },
});
