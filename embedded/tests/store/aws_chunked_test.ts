import assert from "node:assert/strict";
import type { ChunkedFraming } from "@/embedded/store/s3/caller.ts";
import { awsChunked } from "@/embedded/store/s3/received_body.ts";
import { ChunkSignatures, type StatedSignature } from "@/embedded/store/s3/sigv4.ts";
import { StoreError } from "@/embedded/store/store_error.ts";

/** The worked examples of Amazon's Signature Version 4 reference for bodies in pieces: 65 KiB of "a" in three of them. */
const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
const EXAMPLE = [
  ["10000", "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"],
  ["400", "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"],
  ["0", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"],
] as const;
const TRAILER_SEED = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
const TRAILER_EXAMPLE = [
  ["10000", "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2"],
  ["400", "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"],
  ["0", "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"],
] as const;
const TRAILER = "x-amz-checksum-crc32c:sOO8/Q==";
const TRAILER_SIGNATURE = "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435";

function stated(signature: string): StatedSignature {
  return {
    accessKey: "AKIAIOSFODNN7EXAMPLE",
    scope: "20130524/us-east-1/s3/aws4_request",
    time: "20130524T000000Z",
    signedHeaders: ["host"],
    signature,
    payload: "",
  };
}

function framing(seed: string | null, hasTrailer: boolean): ChunkedFraming {
  return { signatures: seed === null ? null : new ChunkSignatures(stated(seed), SECRET), hasTrailer };
}

function framed(pieces: readonly (readonly [string, string])[]): string {
  return pieces.map(([size, signature]) => {
    const bytes = parseInt(size, 16);
    return `${size};chunk-signature=${signature}\r\n${"a".repeat(bytes)}${bytes > 0 ? "\r\n" : ""}`;
  }).join("");
}

/** Decodes a body that arrives in one buffer that is filled again and again, as large bodies do. */
async function decoded(
  body: string | Uint8Array,
  given: ChunkedFraming,
  size: number,
  { trailers = [] as string[], step = 1000 } = {},
): Promise<{ bytes: Uint8Array; trailers: Record<string, string> }> {
  const bytes = typeof body === "string" ? Uint8Array.from(body, (character) => character.charCodeAt(0)) : body;
  async function* parts() {
    const buffer = new Uint8Array(step);
    for (let at = 0; at < bytes.length; at += step) {
      const part = bytes.subarray(at, at + step);
      buffer.set(part);
      yield await Promise.resolve(buffer.subarray(0, part.length));
    }
  }
  const chunked = awsChunked(given, size, trailers);
  const out: number[] = [];
  for await (const part of chunked.decode(parts())) out.push(...part);
  return { bytes: Uint8Array.from(out), trailers: Object.fromEntries(chunked.trailers) };
}

async function code(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  return "none";
}

Deno.test("aws-chunked: the published example is decoded, with its signatures", async () => {
  for (const step of [1, 7, 65_536, 100_000]) {
    const { bytes } = await decoded(`${framed(EXAMPLE)}\r\n`, framing(SEED, false), 66_560, { step });
    assert.equal(new TextDecoder().decode(bytes), "a".repeat(66_560));
  }
});

Deno.test("aws-chunked: the published example with a trailer is decoded, in both of its spellings", async () => {
  for (const end of ["\r\n", "\n\r\n"]) {
    const body = `${framed(TRAILER_EXAMPLE)}${TRAILER}${end}${TRAILER_SIGNATURE}\r\n\r\n`;
    const given = { trailers: ["x-amz-checksum-crc32c"], step: 100 };
    const { bytes, trailers } = await decoded(body, framing(TRAILER_SEED, true), 66_560, given);
    assert.equal(bytes.length, 66_560);
    assert.deepEqual(trailers, { "x-amz-checksum-crc32c": "sOO8/Q==" });
    const changed = body.replace("sOO8", "sOO9");
    assert.equal(
      await code(decoded(changed, framing(TRAILER_SEED, true), 66_560, given)),
      "SignatureDoesNotMatch",
    );
    const unsigned = body.replace(`${TRAILER_SIGNATURE}\r\n`, "");
    assert.equal(
      await code(decoded(unsigned, framing(TRAILER_SEED, true), 66_560, given)),
      "MalformedTrailerError",
    );
  }
});

Deno.test("aws-chunked: chunks that were changed, moved, left out or cut off are rejected", async () => {
  const [first, second, last] = EXAMPLE;
  const refused = (pieces: readonly (readonly [string, string])[], size = 66_560) =>
    code(decoded(`${framed(pieces)}\r\n`, framing(SEED, false), size));
  assert.equal(await refused([second, first, last]), "SignatureDoesNotMatch");
  assert.equal(await refused([first, last], 65_536), "SignatureDoesNotMatch");
  assert.equal(await refused([first, second, [last[0], "0".repeat(64)]]), "SignatureDoesNotMatch");
  const whole = `${framed(EXAMPLE)}\r\n`;
  const change = (body: string, size = 66_560) => code(decoded(body, framing(SEED, false), size));
  assert.equal(await change(whole.replace("aaaa", "aaab")), "SignatureDoesNotMatch");
  assert.equal(await change(whole.slice(0, 66_000)), "IncompleteBody");
  assert.equal(await change(framed([first, second])), "IncompleteBody");
  assert.equal(await change(whole, 66_559), "IncompleteBody");
  assert.equal(await change(whole, 66_561), "IncompleteBody");
  assert.equal(await change(`${whole}more`), "IncompleteBody");
  assert.equal(await change(`${whole}more\r\n`), "InvalidRequest");
  assert.equal(await change(whole.replace(/;chunk-signature=[0-9a-f]{64}/, "")), "InvalidRequest");
});

Deno.test("aws-chunked: lines, trailers and their number are bounded, and only announced trailers are taken", async () => {
  const unsigned = (body: string, trailers: string[] = []) => code(decoded(body, framing(null, true), 1, { trailers }));
  const crc32 = "x-amz-checksum-crc32";
  assert.equal(await unsigned(`1\r\nx\r\n0\r\n${crc32}:a\r\n\r\n`, [crc32]), "none");
  assert.equal(await unsigned(`1\r\nx\r\n0\r\n${crc32}:a\n\r\n\r\n`, [crc32]), "none");
  assert.equal(await unsigned("1\r\nx\r\n0\r\n\r\n", [crc32]), "MalformedTrailerError");
  assert.equal(await unsigned(`1\r\nx\r\n0\r\n${crc32}:a\r\n\r\n`), "MalformedTrailerError");
  assert.equal(await unsigned(`1\r\nx\r\n0\r\n${crc32}:a\r\n${crc32}:a\r\n\r\n`, [crc32]), "MalformedTrailerError");
  assert.equal(await unsigned(`1\r\nx\r\n0\r\n${"\r\n".repeat(17)}`), "MalformedTrailerError");
  assert.equal(await unsigned(`1\r\nx\r\n0\r\n${crc32}:${"a".repeat(2000)}\r\n\r\n`, [crc32]), "InvalidRequest");
  assert.equal(await unsigned("0".repeat(2000)), "InvalidRequest");
  assert.equal(await unsigned("1\r\nxy\r\n0\r\n\r\n"), "InvalidRequest");
  assert.equal(await unsigned("-1\r\nx\r\n0\r\n\r\n"), "InvalidRequest");
  assert.equal(await unsigned("ffffffffffff\r\nx"), "IncompleteBody");
});
