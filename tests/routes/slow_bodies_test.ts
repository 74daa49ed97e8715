import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { UPLOAD_SIZES } from "@/lib/s3/object_upload.ts";
import { withGateway } from "./gateway_fixture.ts";
import { rawExchange, rawStore } from "./raw_store.ts";

const O = "/api/v1/buckets/b/objects/";
const REFUSED =
  "HTTP/1.1 403 Forbidden\r\nContent-Length: 51\r\n\r\n<Error><Code>AccessDenied</Code><Message/></Error>\r\n";
const bodyBounds = { idleMs: 100, minBytesPerSecond: 1_000_000_000, slackMs: 100 };
/** Bounds whose total lets everything pass: only silence ends a body. */
const silenceOnly = { ...bodyBounds, slackMs: 3_600_000 };
/** For bodies whose sender may take a while on a busy machine. */
const longSilenceOnly = { ...silenceOnly, idleMs: 3000 };
const MIB = 2 ** 20;

const BEGINNINGS: [what: string, key: string, head: string][] = [
  ["of known length", "k", "Content-Length: 1000\r\n\r\nhalf"],
  ["without a length", "k", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
  ["by node:http", "a/../k", "Content-Length: 1000\r\n\r\nhalf"],
];

for (const [what, key, beginning] of BEGINNINGS) {
  Deno.test(`slow bodies: an object ${what} that stalls is broken off, and its place is given back`, async () => {
    await using store = await rawStore((socket) => socket.write(`HTTP/1.1 200 OK\r\n${beginning}`));
    const gateway = { addresses: store.addresses, maxTenantRequests: 1, bodyBounds };
    await withGateway({ gateway }, async ({ call }) => {
      for (let n = 1; n <= 2; n++) {
        const response = await free(() => call(O + key));
        assert.equal(response.status, 200);
        await assert.rejects(response.text());
        await store.closed(n);
      }
    });
  });
}

Deno.test("slow bodies: a long object that stalls in its middle breaks the connection off before its total is over", async () => {
  await using store = await rawStore((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
    socket.write("x".repeat(8 * MIB));
  });
  const gateway = { addresses: store.addresses, maxTenantRequests: 1, bodyBounds: { ...silenceOnly, idleMs: 1000 } };
  await withGateway({ gateway }, async ({ call }) => {
    for (let n = 1; n <= 2; n++) {
      const response = await free(() => call(`${O}k`));
      assert.equal(response.headers.get("content-length"), String(64 * MIB));
      let received = 0;
      await assert.rejects(async () => {
        for await (const piece of response.body ?? []) received += piece.length;
      });
      assert.equal(received, 8 * MIB);
      await store.closed(n);
    }
  });
});

const CHUNK = `10000\r\n${"x".repeat(0x10000)}\r\n`;
const FLOODS: [what: string, head: string, piece: string][] = [
  ["without a length", "Transfer-Encoding: chunked\r\n\r\n", CHUNK],
  ["of known length", `Content-Length: ${64 * MIB}\r\n\r\n`, "x".repeat(0x10000)],
];

for (const [what, head, piece] of FLOODS) {
  Deno.test(`slow bodies: an object ${what} that the client does not read is cancelled, and its slot released`, async () => {
    const flood = (socket: Socket) => {
      const more = () => {
        while (socket.writable && socket.write(piece)) { /* until the gateway takes no more */ }
      };
      socket.on("drain", more);
      socket.write(`HTTP/1.1 200 OK\r\n${head}`);
      more();
    };
    await using store = await rawStore(flood);
    const gateway = { addresses: store.addresses, maxTenantRequests: 1, bodyBounds: silenceOnly };
    await withGateway({ gateway }, async ({ origin, bearer, call }) => {
      const { port } = new URL(origin);
      using client = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
      const request = `GET ${O}k HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n\r\n`;
      await client.write(new TextEncoder().encode(request));
      await store.closed(1);
      const next = await free(() => call(`${O}k`));
      assert.equal(next.status, 200);
      await next.body?.cancel();
    });
  });
}

const UPLOADS: [what: string, headers: string][] = [
  ["with a length", "Content-Length: 100000000\r\n\r\n"],
  ["without a length", "Transfer-Encoding: chunked\r\n\r\n4\r\n"],
];

/** The idle timeout also bounds the store, which shares the test's thread: a stall shorter than it must not become 504. */
const ENDS = [
  { end: "its total is over", bounds: { ...silenceOnly, idleMs: 3_600_000, slackMs: 200 } },
  { end: "it is silent", bounds: { ...silenceOnly, idleMs: 1000 } },
];

for (const [what, headers] of UPLOADS) {
  for (const { end, bounds } of ENDS) {
    Deno.test(`slow bodies: a client that stalls in an upload ${what} is told 408 once ${end}`, async () => {
      await using store = await rawStore((socket, head) => {
        if (head.startsWith("GET ")) socket.end(REFUSED);
      });
      await withGateway({ gateway: { addresses: store.addresses, bodyBounds: bounds } }, async ({ origin, bearer }) => {
        const request = `PUT ${O}k HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n${headers}half`;
        const answer = await rawExchange(origin, request, /\}$/);
        assert.match(answer, /^HTTP\/1\.1 408 [^]*\{"detail":"The request body took too long"\}$/);
      });
    });
  }
}

Deno.test("slow bodies: a client that stalls in a long upload is told 408 before its total is over", async () => {
  await using store = await rawStore(() => {});
  const gateway = { addresses: store.addresses, bodyBounds: { ...silenceOnly, idleMs: 1000 } };
  await withGateway({ gateway }, async ({ origin, bearer }) => {
    const head = `PUT ${O}k HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n`;
    const request = `${head}Content-Length: ${8 * MIB}\r\n\r\n${"x".repeat(4 * MIB)}`;
    const asked = store.next();
    const answer = await rawExchange(origin, request, /\}$/);
    assert.match(await asked, new RegExp(`\r\ncontent-length: ${8 * MIB}(?:\r|$)`, "i"));
    assert.match(answer, /^HTTP\/1\.1 408 [^]*\{"detail":"The request body took too long"\}$/);
    await store.closed(1);
  });
});

Deno.test("slow bodies: a store that takes no more of a long upload is 504 before the total is over", async () => {
  let goOn = () => {};
  await using store = await rawStore((socket) => {
    socket.pause();
    goOn = () => socket.resume();
  });
  const gateway = { addresses: store.addresses, bodyBounds: longSilenceOnly };
  await withGateway({ gateway }, async ({ call }) => {
    const response = await call(`${O}k`, { method: "PUT", body: new Uint8Array(64 * MIB) });
    assert.deepEqual([response.status, await response.json()], [504, {
      detail: "S3 read timed out",
      code: "store_timeout",
    }]);
    // A socket that is not read does not notice its end.
    goOn();
    await store.closed(1);
  });
});

/** Parts beyond what a connection that is not read takes into its buffers. */
const uploadSizes = {
  ...UPLOAD_SIZES,
  maxPutBytes: 1,
  knownPartBytes: 32 * MIB,
  partBytes: () => 32 * MIB,
};
/** What a store says once it has a body. */
const CONFIRMED = 'HTTP/1.1 200 OK\r\nETag: "a"\r\nContent-Length: 0\r\n\r\n';

/**
 * A store that begins and aborts uploads in parts, and reads no part.
 *
 * @param onPart gets the connection of each part
 * @returns the store; `aborted` resolves when an upload is aborted
 */
async function partStore(onPart: (socket: Socket) => void) {
  const aborted = Promise.withResolvers<void>();
  const store = await rawStore((socket, head) => {
    if (head.startsWith("PUT ")) {
      socket.pause();
      onPart(socket);
      return;
    }
    if (head.startsWith("DELETE ")) aborted.resolve();
    const body = head.startsWith("POST ")
      ? "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
      : "";
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
  });
  return { ...store, aborted: aborted.promise };
}

const IN_PARTS: [what: string, body: () => BodyInit][] = [
  ["of known length", () => new Uint8Array(33 * MIB)],
  ["of unknown length", () => new Blob([new Uint8Array(33 * MIB)]).stream()],
];

for (const [what, body] of IN_PARTS) {
  Deno.test(`slow bodies: a store that takes no more of a part ${what} is 504 before the total is over`, async () => {
    let resume = () => {};
    await using store = await partStore((socket) => resume = () => socket.resume());
    const gateway = { addresses: store.addresses, bodyBounds: longSilenceOnly, uploadSizes };
    await withGateway({ gateway }, async ({ call }) => {
      const response = await call(`${O}k`, { method: "PUT", body: body() });
      assert.deepEqual([response.status, await response.json()], [504, {
        detail: "S3 read timed out",
        code: "store_timeout",
      }]);
      await store.aborted;
      resume();
      await store.closed(3);
    });
  });
}

for (const [what, body] of IN_PARTS) {
  Deno.test(`slow bodies: a store that confirms a part ${what} before it has it is 502, and the upload aborted`, async () => {
    await using store = await partStore((socket) => socket.write(CONFIRMED));
    await withGateway({ gateway: { addresses: store.addresses, uploadSizes } }, async ({ call }) => {
      const response = await call(`${O}k`, { method: "PUT", body: body() });
      const detail = "S3 confirmed a body before all of it was sent";
      assert.deepEqual([response.status, await response.json()], [502, { detail }]);
      await store.aborted;
    });
  });
}

for (const key of ["k", "a/../k"]) {
  Deno.test(`slow bodies: a store that confirms the upload of ${key} before it has it is 502`, async () => {
    await using store = await rawStore((socket) => {
      socket.pause();
      socket.write(CONFIRMED);
    });
    await withGateway({ gateway: { addresses: store.addresses } }, async ({ call }) => {
      const response = await call(O + key, { method: "PUT", body: new Uint8Array(64 * MIB) });
      const detail = "S3 confirmed a body before all of it was sent";
      assert.deepEqual([response.status, await response.json()], [502, { detail }]);
    });
  });
}

Deno.test("slow bodies: a store that is silent once it has an upload is 504", async () => {
  await using store = await rawStore(() => {});
  // The client, which shares this thread, has as long to send the body.
  const gateway = {
    addresses: store.addresses,
    bodyBounds: { ...bodyBounds, idleMs: 1000, slackMs: 1000 },
    s3TimeoutMs: 100,
  };
  await withGateway({ gateway }, async ({ call }) => {
    const response = await call(`${O}k`, { method: "PUT", body: new Uint8Array(100_000) });
    assert.deepEqual([response.status, await response.json()], [504, {
      detail: "S3 read timed out",
      code: "store_timeout",
    }]);
  });
});

/** Asks until the place of the request before is free: it is given back when that one is known to be over. */
async function free(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status !== 503) return response;
    await response.body?.cancel();
  }
}
