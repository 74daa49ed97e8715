import assert from "node:assert/strict";

import { fetchXml } from "@/lib/client/fetch_text.ts";
import { xmlDecoder } from "@/lib/client/xml_decoder.ts";

/** Bytes of a text whose characters are below 256. */
const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

function utf16(text: string, isLittle: boolean, mark: boolean): Uint8Array {
  const codes = [...(mark ? ["\ufeff"] : []), ...text].map((character) => character.charCodeAt(0));
  return Uint8Array.from(codes.flatMap((code) => isLittle ? [code & 255, code >> 8] : [code >> 8, code & 255]));
}

function decoded(bytes: Uint8Array, mediaType: string | null = null): string | undefined {
  return xmlDecoder(bytes, mediaType)?.decode(bytes);
}

const xml = (encoding: string) => `<?xml version="1.0" encoding='${encoding}' ?><a>Växjö</a>`;

Deno.test("xml decoder: an encoding of one byte is found in the declaration", () => {
  for (const name of ["ISO-8859-1", "iso-8859-15", "windows-1252"]) {
    assert.equal(decoded(latin1(xml(name))), xml(name));
  }
  assert.equal(
    decoded(Uint8Array.of(...latin1(`<?xml version="1.0" encoding="windows-1252"?><a>`), 0x96)),
    `<?xml version="1.0" encoding="windows-1252"?><a>–`,
  );
});

Deno.test("xml decoder: UTF-16 is found by its mark or by its zeros", () => {
  for (const isLittle of [true, false]) {
    for (const mark of [true, false]) assert.equal(decoded(utf16(xml("UTF-16"), isLittle, mark)), xml("UTF-16"));
  }
});

Deno.test("xml decoder: the server's word goes before the declaration, and the mark before both", () => {
  const utf8 = new TextEncoder().encode(xml("ISO-8859-1"));
  assert.equal(decoded(utf8, `application/xml; charset="utf-8"`), xml("ISO-8859-1"));
  assert.equal(decoded(latin1(xml("utf-8")), "text/xml;charset=ISO-8859-1"), xml("utf-8"));
  assert.equal(decoded(Uint8Array.of(0xef, 0xbb, 0xbf, ...utf8), "text/xml;charset=ISO-8859-1"), xml("ISO-8859-1"));
});

Deno.test("xml decoder: without a name, or with one of UTF-16 in bytes, it is UTF-8; of an unknown name there is none", () => {
  assert.equal(decoded(new TextEncoder().encode("<a>Växjö</a>")), "<a>Växjö</a>");
  assert.equal(decoded(new TextEncoder().encode(xml("UTF-16"))), xml("UTF-16"));
  assert.equal(xmlDecoder(latin1(xml("EBCDIC-SE")), null), null);
  assert.equal(xmlDecoder(latin1("<a/>"), "text/xml; charset=klingon"), null);
});

Deno.test("fetch xml: a file in chunks of a byte is decoded, and one in an unknown encoding is cancelled", async () => {
  const read = (bytes: Uint8Array) => {
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const fetch = () => Promise.resolve(new Response(body));
    return fetchXml("https://arkiv.example/1.xml", { fetch, maxBytes: 5000, signal: new AbortController().signal });
  };
  const long = `${xml("ISO-8859-1")}${" å".repeat(1000)}`;
  assert.deepEqual(await read(latin1(long)), { ok: true, text: long });
  assert.deepEqual(await read(utf16(xml("UTF-16"), true, true)), { ok: true, text: xml("UTF-16") });
  assert.deepEqual(await read(latin1(xml("x-none"))), { ok: false, problem: "unknown encoding" });
});
