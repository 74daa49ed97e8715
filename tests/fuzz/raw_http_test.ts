import fc from "fast-check";
import assert from "node:assert/strict";
import { startEmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import { sampleOptions } from "@/embedded/tests/cluster/sample_cluster.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { AMBIGUOUS } from "@/tools/deploy/smuggling.ts";
import { exchanged, oracleServer, ownServer, type RecordingServer, type SeenRequest } from "./exchange.ts";
import { near } from "./hostile.ts";

/** What our servers take and Node's does not, or reads otherwise, and why that is no way past a proxy. */
const EXPLAINED: Readonly<
  Record<string, { readonly sent: string; readonly seen: readonly string[]; readonly why: string }>
> = {
  "a bare line feed ends a line": {
    sent: "GET /a HTTP/1.1\nHost: a\n\n",
    seen: ["GET /a"],
    why: "a recipient may take it for a line end (RFC 9112, section 2.2); no value of a header can have one",
  },
  "no Host": {
    sent: "GET /a HTTP/1.1\r\n\r\n",
    seen: ["GET /a"],
    why: "clients of HTTP/1.0 send none; where names are checked, a request without one has none of them",
  },
  "two equal lengths": {
    sent:
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a abc", "GET /b"],
    why: "equal values are one value (RFC 9110, section 8.6)",
  },
  "two equal lengths apart, one with zeros before it": {
    sent: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 03\r\nX: y\r\nContent-Length: 3\r\n\r\n" +
      "abcGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a abc", "GET /b"],
    why: "equal values are one value (RFC 9110, section 8.6)",
  },
  "another expectation": {
    sent: "POST /a HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\nx",
    seen: ["POST /a x"],
    why: "a server may ignore it (RFC 9110, section 10.1.1)",
  },
  "a method of its own": {
    sent: "get /a HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["get /a"],
    why: "routes answer it with 405; its framing is that of any other method",
  },
  "a path beyond ASCII": {
    sent: "GET /\xc3\xa5 HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["GET /%C3%A5"],
    why: "the bytes are those of the percent-encoded path",
  },
  "blanks behind a chunk's size": {
    sent:
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a x", "GET /b"],
    why: "the size is the same with them",
  },
  "any extension of a chunk": {
    sent: "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;GET /c HTTP/1.1\r\nx\r\n0\r\n\r\n" +
      "GET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a x", "GET /b"],
    why: "a recipient ignores those that it does not know (RFC 9112, section 7.1.1), and they end with their line",
  },
  "a blank behind the encoding": {
    sent: "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\t\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    seen: ["POST /a x"],
    why: "it is no part of the value (RFC 9110, section 5.5)",
  },
  "a blank behind the length": {
    sent: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\t\r\n\r\nxGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a x", "GET /b"],
    why: "it is no part of the value (RFC 9110, section 5.5)",
  },
  "a length in a trailer": {
    sent:
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 9\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a", "GET /b"],
    why: "trailers are dropped, and change no framing",
  },
  "an encoding in a trailer": {
    sent:
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["POST /a", "GET /b"],
    why: "trailers are dropped, and change no framing",
  },
  "an upgrade": {
    sent: "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["GET /a", "GET /b"],
    why: "no role upgrades a connection, and a server may ignore it (RFC 9110, section 7.8)",
  },
  "CONNECT": {
    sent: "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    seen: ["CONNECT /", "GET /b"],
    why: "no role answers it with 2xx, without which there is no tunnel (RFC 9110, section 9.3.6)",
  },
};

/** What no server of ours may see a request in. */
const REFUSED: readonly string[] = [
  ...["GET /x HTTP/1.1\r\nHost: a/api/v1/secret?\r\n\r\n", "GET /x HTTP/1.1\r\nHost: a#b\r\n\r\n"],
  ...["GET /x HTTP/1.1\r\nHost: u@b\r\n\r\n", "GET /x HTTP/1.1\r\nHost: a b\r\n\r\n"],
  ...["GET /x HTTP/1.1\r\nHost: a\\b\r\n\r\n", "GET /x HTTP/1.1\r\nHost: \xe5\r\n\r\n"],
];

const INNER = "GET /inner HTTP/1.1\r\nHost: a\r\n\r\n";
const SMUGGLED = Object.values(AMBIGUOUS).map((text) =>
  text.replace("Content-Length: @", `Content-Length: ${INNER.length + 5}`)
    .replace("Content-Length: 0, @", `Content-Length: 0, ${INNER.length}`)
    .replaceAll("%\r\n", "a\r\n").replaceAll("@", INNER)
);

const isFuzzing = fc.readConfigureGlobal()?.interruptAfterTimeLimit !== undefined;

/** How long nothing comes back before the client ends, ms; again where it may have been too short. */
const IDLE_MS = 60;
const LONG_IDLE_MS = 1500;
/** Exchanges until one comes to as much as expected. */
const MAX_TRIES = 5;
/** Connections of each server at a time. */
const AT_ONCE = 20;

type Exchange = Awaited<ReturnType<RecordingServer["exchange"]>>;

let servers: Promise<{ oracle: RecordingServer; reading: RecordingServer; refusing: RecordingServer }> | null = null;

async function withServers(
  use: (servers: { oracle: RecordingServer; reading: RecordingServer; refusing: RecordingServer }) => Promise<void>,
): Promise<void> {
  servers ??= oracleServer().then((oracle) => ({ oracle, reading: ownServer(true), refusing: ownServer(false) }));
  const all = await servers;
  try {
    await use(all);
  } finally {
    servers = null;
    await Promise.all(Object.values(all).map((server) => server.close()));
  }
}

Deno.test("raw HTTP: what our servers take beyond Node's parser is known, and explained", () =>
  withServers(async ({ reading }) => {
    const explained = Object.entries(EXPLAINED).map(async ([name, { sent, seen }]) => {
      const isWhole = ({ seen: found }: Exchange) =>
        found.length >= seen.length && found.every(({ body }) => body !== null);
      const found = await wholeExchange(reading, sent, isWhole);
      assert.deepEqual(found.seen.map(shown), seen, name);
    });
    const refused = REFUSED.map(async (sent) => {
      const isWhole = ({ seen, answer }: Exchange) => seen.length > 0 || answer !== "";
      const { seen, answer } = await wholeExchange(reading, sent, isWhole);
      assert.deepEqual(seen, [], sent);
      assert.match(answer, /^HTTP\/1\.1 400 /, sent);
    });
    await Promise.all([...explained, ...refused]);
  }));

/** Repeats an exchange that came to less than expected: a stall of the machine looks like its end. */
async function wholeExchange(
  server: RecordingServer,
  sent: string,
  isWhole: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  for (let tries = 1;; tries++) {
    const found = await server.exchange(sent, LONG_IDLE_MS);
    if (isWhole(found) || tries === MAX_TRIES) return found;
  }
}

/** Heads and bodies in pieces that are each right or wrong in one way. */
const TARGETS = ["/a", "/a?b=c", "http://a/a", "*", "//a", "/a#b", "/%00", "/a b", "/\xe5", "a", "", "?x"];
const VERSIONS = [
  ...["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/01.1"],
  ...[""],
];
const METHODS = ["GET", "POST", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "GE T", "", "\tGET"];
const LINES = [
  ...["Host: a", "Host: a", "Host : a", " Host: a", "Host:\ta", "Host: b:80", "host: A", "X: y", "X:", ": x", "X"],
  ...["X: a\0b", "X: a\r b", "X: a\r\n b", "Connection: close", "Connection: keep-alive", "Connection: Upgrade"],
  ...["Upgrade: websocket", "Expect: 100-continue", "Content-Length : 3", "Content_Length: 3"],
  ...["Content-Length: 3\x0b", "\x00: x", "X\x80: y", "(x): y", "Transfer-Encoding: identity"],
  ...["Transfer-Encoding : chunked", "TE: trailers", "Trailer: X", "Keep-Alive: 5"],
];
const LENGTHS = [
  ...["3", "3", "0", "+3", "-1", "03", "3, 3", "3,4", "3 3", "0x3", "3;", "3.0", "", "18446744073709551619"],
  ...["9".repeat(40), '"3"'],
];
const ENCODINGS = [
  ...["chunked", "chunked", "Chunked", "gzip, chunked", "chunked, gzip", "chunked, chunked", "xchunked"],
  ...["\x0bchunked", "chunked;x", ",chunked", "chunked,", '"chunked"', "identity", "chunk ed"],
];
const CHUNKS = [
  ...["3\r\nabc\r\n", "3\r\nabc\r\n", "3;a=b\r\nabc\r\n", '3;a="\r\n"\r\nabc\r\n', "3\nabc\n", "+3\r\nabc\r\n"],
  ...["0x3\r\nabc\r\n", "3\r\nabcd\r\n", "3\r\nab\r\n", "03\r\nabc\r\n", "g\r\nabc\r\n", "\r\nabc\r\n"],
  ...["ffffffffffffffff3\r\nabc\r\n", "3\r\r\nabc\r\n", "3;\0\r\nabc\r\n"],
];
const LASTS = [
  ...["0\r\n\r\n", "0\r\n\r\n", "00\r\n\r\n", "0\r\nX: y\r\n\r\n", "0;a\r\n\r\n", "0\r\n", "-0\r\n\r\n"],
  ...["0\r\nX : y\r\n\r\n", "0\r\n X: y\r\n\r\n", ""],
];
const LINE_ENDS = ["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r", "\r\r\n", "\r\n\r\n"];

const framed = fc.oneof(
  fc.constant({ lines: [] as string[], body: "" }),
  fc.tuple(
    fc.array(fc.constantFrom(...LENGTHS), { minLength: 1, maxLength: 2 }),
    fc.constantFrom("abc", "", "abcd", "ab", INNER),
  )
    .map(([lengths, body]) => ({ lines: lengths.map((length) => `Content-Length: ${length}`), body })),
  fc.tuple(
    fc.constantFrom(...ENCODINGS),
    fc.array(fc.constantFrom(...CHUNKS), { maxLength: 2 }),
    fc.constantFrom(...LASTS),
  )
    .map(([encoding, chunks, last]) => ({ lines: [`Transfer-Encoding: ${encoding}`], body: chunks.join("") + last })),
  fc.tuple(
    fc.constantFrom(...ENCODINGS),
    fc.constantFrom(...LENGTHS),
    fc.constantFrom("0\r\n\r\n", "abc", "3\r\nabc\r\n0\r\n\r\n"),
  )
    .map(([encoding, length, body]) => ({
      lines: [`Content-Length: ${length}`, `Transfer-Encoding: ${encoding}`],
      body,
    })),
);
const request = fc.record({
  method: fc.constantFrom(...METHODS),
  target: fc.constantFrom(...TARGETS),
  version: fc.constantFrom(...VERSIONS),
  more: fc.array(fc.constantFrom(...LINES), { maxLength: 3 }),
  framed,
  end: fc.constantFrom(...LINE_ENDS),
  blank: fc.constantFrom(" ", " ", " ", "  ", "\t", ""),
  hasHost: fc.constantFrom(true, true, true, false),
}).map(({ method, target, version, more, framed, end, blank, hasHost }) =>
  [`${method} ${target}${blank}${version}`, ...hasHost ? ["Host: a"] : [], ...more, ...framed.lines, "", ""].join(end) +
  framed.body
);
const LAST = "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const WORDS = [
  ...["\r\n", "\r", "\0", " ", "\t", ":", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"],
  ...["\x7f", "\xff"],
];
const requests = fc.array(request, { minLength: 1, maxLength: 3 }).map((requests) => requests.join(""));
const connection = fc.oneof(
  requests,
  near([...SMUGGLED, `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc${INNER}`], WORDS)
    // A bare line feed is explained above.
    .map((text) => text.replace(/[^\0-\xff]/g, "?").replace(/(?<!\r)\n/g, "\r\n")),
).map((text) => text + LAST);

Deno.test("raw HTTP: no server of ours sees more or other requests on a connection than Node's parser does", () =>
  withServers(async (servers) => {
    await fc.assert(
      fc.asyncProperty(fc.array(connection, { minLength: 1, maxLength: AT_ONCE }), async (texts) => {
        await Promise.all(texts.map((text) => assertNoMore(servers, text)));
      }),
      isFuzzing ? {} : { numRuns: 25 },
    );
  }));

Deno.test("raw HTTP: the embedded store and cluster respond to no more requests than the server above sees", async () => {
  await using store = await startStore();
  const cluster = await startEmbeddedCluster(sampleOptions());
  const ports = [store.s3("archive"), store.mapi("archive"), cluster.url].map((url) => Number(new URL(url).port));
  await withServers(async ({ reading }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: AT_ONCE }), async (texts) => {
        await Promise.all(texts.map(async (text) => {
          for (const idleMs of [IDLE_MS, LONG_IDLE_MS]) {
            const { seen } = await reading.exchange(text + LAST, idleMs);
            const answers = await Promise.all(ports.map((port) => exchanged(port, text + LAST, idleMs)));
            const most = Math.max(...answers.map(({ answer }) => responsesIn(answer)));
            if (most <= seen.length) return;
            if (idleMs === LONG_IDLE_MS) assert.fail(JSON.stringify({ text, seen: seen.map(shown), answers }));
          }
        }));
      }),
      isFuzzing ? {} : { numRuns: 10 },
    );
  }).finally(() => cluster.close());
});

/** How many requests a server has responded to: but for the one that its parser refused. */
function responsesIn(answer: string): number {
  const heads = answer.match(/HTTP\/1\.1 [2-5]\d\d [^\r\n]*\r\n(?:[^\r\n]+\r\n)*/g) ?? [];
  return heads.filter((head) =>
    !/^HTTP\/1\.1 400 [^\r\n]*\r\n(?:(?:content-length: 0|connection: close|date: [^\r\n]*)\r\n)+$/i.test(head)
  ).length;
}

async function assertNoMore(
  { oracle, reading, refusing }: { oracle: RecordingServer; reading: RecordingServer; refusing: RecordingServer },
  text: string,
): Promise<void> {
  const strict = strictly(text);
  for (const idleMs of [IDLE_MS, LONG_IDLE_MS]) {
    const [known, seen, begun] = await Promise.all([
      oracle.exchange(strict, idleMs),
      reading.exchange(text, idleMs),
      refusing.exchange(text, idleMs),
    ]);
    const isSame = isBeginning(seen.seen, known.seen) && isBeginning(begun.seen, known.seen, false);
    if (isSame) return;
    if (idleMs === LONG_IDLE_MS) {
      assert.fail(
        JSON.stringify({
          text,
          node: known.seen.map(shown),
          ours: seen.seen.map(shown),
          refusing: begun.seen.map(shown),
        }),
      );
    }
  }
}

/** Whether all that one parser has seen is the beginning of what the other one has. */
function isBeginning(ours: readonly SeenRequest[], oracle: readonly SeenRequest[], comparesBodies = true): boolean {
  const unknown = ours.findIndex(({ method }) => !METHODS.includes(method));
  // Node's parser ends at a method that it does not know.
  return ours.slice(0, unknown < 0 ? undefined : unknown).every((one, at) => {
    const other = oracle.at(at);
    if (!other || normal(one) !== normal(other)) return false;
    // A GET and a HEAD have no body for our handlers, whatever follows their head.
    const isBodiless = one.method === "GET" || one.method === "HEAD";
    return !comparesBodies || isBodiless || one.body === null ||
      withOriginalNames(one.body) === withOriginalNames(other.body);
  });
}

function normal({ method, target }: SeenRequest): string {
  const path = target === "*" ? "/*" : target.split("#")[0];
  return `${method} ${path.replace(/[^\0-\x7f]/g, (one) => encodeURIComponent(one))}`;
}

function shown(request: SeenRequest): string {
  return `${normal(request)}${request.body ? ` ${request.body}` : ""}`;
}

/** The text as Node's parser takes it, where ours is known to take more: what {@link EXPLAINED} says. */
function strictly(text: string): string {
  return text
    .replace(/\r\nUpgrade(?=:)/gi, "\r\nUpgrad-")
    // What stands behind the size of a chunk. Without an encoding before it, it is part of a body of known length. It goes
    // before trailers are looked for, behind a size of 0.
    .replace(/(?<=Transfer-Encoding[^]*\r\n[0-9a-f]{1,16})[ \t]*(?:;[^\r\n]*)?(?=\r\n)/gi, "")
    // A trailer with the name of a length or an encoding.
    .replace(/(?<=\r\n0+\r\n(?:[^\r\n:]+:[^\r\n]*\r\n)*)Content-Length(?=:)/gi, "Content-Trails")
    .replace(/(?<=\r\n0+\r\n(?:[^\r\n:]+:[^\r\n]*\r\n)*)Transfer-Encoding(?=:)/gi, "Transfer-Trailers")
    // Blanks behind a length or an encoding.
    .replace(/(?<=\r\n(?:Content-Length|Transfer-Encoding):[^\r\n]*)[ \t]+(?=\r\n)/gi, "")
    // A length that is repeated.
    .replace(/(?<=\r\nContent-Length: *0*([1-9]\d*|0)\r\n(?:[^\r\n]+\r\n)*)Content-Length: *0*\1\r\n/gi, "");
}

/** A body with the names that {@link strictly} has replaced in it, too: in lower case, as it forgets how they were written. */
function withOriginalNames(body: string | null): string | undefined {
  return body?.replace(/Content-(?:Length|Trails)/gi, "content-length")
    .replace(/Transfer-(?:Encoding|Trailers)/gi, "transfer-encoding").replace(/Upgrad[e-]/gi, "upgrade");
}
