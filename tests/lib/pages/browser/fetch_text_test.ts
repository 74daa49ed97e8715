import assert from "node:assert/strict";

import { fetchText, fetchXml, securedAddress, xmlDecoder } from "@/lib/pages/browser/fetch_text_client.ts";

const URL_ = "https://arkiv.example/manifest.json";

/** The text of a response, or why there is none. */
async function read(fetch: typeof globalThis.fetch, maxBytes = 100, reader: typeof fetchXml = fetchText) {
  const read = await reader(URL_, { fetch, maxBytes, signal: new AbortController().signal });
  return read.ok ? read.text : read.problem;
}

/** A response in chunks of a byte. */
const inBytes = (bytes: Iterable<number>) => () =>
  Promise.resolve(
    new Response(
      new ReadableStream({
        start(controller) {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      }),
    ),
  );

/** Bytes of a text in UTF-16. */
function utf16(text: string, isLittle: boolean): number[] {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return units.flatMap((unit) => isLittle ? [unit & 255, unit >> 8] : [unit >> 8, unit & 255]);
}

Deno.test("fetch text: characters that two chunks share are whole", async () => {
  assert.equal(await read(inBytes(new TextEncoder().encode("Växjö"))), "Växjö");
});

Deno.test("fetch text: a body beyond the limit is cancelled and named as too large", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(60)),
    cancel: () => {
      isCancelled = true;
    },
  });
  assert.equal(await read(() => Promise.resolve(new Response(body))), "too large");
  assert.ok(isCancelled);
});

Deno.test("fetch text: UTF-16 is read with a byte order mark", async () => {
  const log = `2026-03-01 08:00:01,000 INFO Växjö █ 😀\r\n${"x".repeat(600)}`;
  for (const isLittle of [true, false]) {
    assert.equal(await read(inBytes(utf16(`\ufeff${log}`, isLittle)), 10_000), log);
  }
  for (const text of ["a\0b\0ccc\0\0ddddddd", ""]) {
    assert.equal(await read(() => Promise.resolve(new Response(text))), text);
  }
});

Deno.test("fetch text: on a secure page, https is tried for an address of http, and its failure is a block by the browser", async () => {
  const page = "https://stackroom.example/uv.html";
  const asked: string[] = [];
  const problemOf = async (url: string, answer: () => Promise<Response>) => {
    const fetch: typeof globalThis.fetch = (url) => {
      asked.push(String(url));
      return answer();
    };
    const read = await fetchText(url, { fetch, maxBytes: 100, signal: new AbortController().signal, page });
    return read.ok ? read.text : read.problem;
  };
  const status = (status: number) => () => Promise.resolve(new Response("x", { status }));
  const refuse = () => Promise.reject(new TypeError("CORS"));
  assert.equal(await problemOf("http://a.example:8080/m?x#y", status(200)), "x");
  assert.deepEqual(asked, ["https://a.example:8080/m?x#y"]);
  assert.equal(await problemOf("http://a.example/m", refuse), "blocked");
  assert.equal(await problemOf("http://a.example/m", status(404)), "blocked");
  assert.equal(await problemOf("http://a.example/m", status(401)), 401);
  assert.equal(await problemOf("https://a.example/m", refuse), "unreachable");
  assert.equal(await problemOf("https://a.example/m", status(404)), 404);
});

Deno.test("secured address: only addresses of http that a secure page may not read change", () => {
  const page = "https://stackroom.example/";
  for (
    const address of [
      "http://127.0.0.1:8080/x",
      "http://localhost/x",
      "http://a.localhost/x",
      "http://[::1]/x",
      "https://a.example/",
    ]
  ) {
    assert.equal(securedAddress(address, page), address);
  }
  assert.equal(securedAddress("HTTP://A.example/x", page), "https://a.example/x");
  assert.equal(securedAddress("http://localhost.example/x", page), "https://localhost.example/x");
  assert.equal(securedAddress("http://a.example/x", "http://stackroom.example/"), "http://a.example/x");
  assert.equal(securedAddress("http://a.example/x"), "http://a.example/x");
});

/** Bytes of a text whose characters are below 256. */
const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

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
    for (const mark of ["\ufeff", ""]) {
      assert.equal(decoded(Uint8Array.from(utf16(mark + xml("UTF-16"), isLittle))), xml("UTF-16"));
    }
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

Deno.test("fetch xml: a file is decoded as it says, and one in an unknown encoding is a problem", async () => {
  const long = `${xml("ISO-8859-1")}${" å".repeat(1000)}`;
  assert.equal(await read(inBytes(latin1(long)), 5000, fetchXml), long);
  assert.equal(await read(inBytes(utf16(`\ufeff${xml("UTF-16")}`, true)), 5000, fetchXml), xml("UTF-16"));
  assert.equal(await read(inBytes(latin1(xml("x-none"))), 5000, fetchXml), "unknown encoding");
});
