import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { nowhere, withGateway } from "./gateway_fixture.ts";
import { type RawStore, rawStore } from "./raw_store.ts";

const B = "/api/v1/buckets/b";
const ACL = { Grants: [{ Grantee: { Type: "CanonicalUser", ID: "u" }, Permission: "READ" }] };
const SIGNED = "https://store.example.org/b/k?X-Amz-Credential=AKIA%2Fs3&amp;X-Amz-Signature=0123456789abcdef";

/** Every operation that reads XML from the store, whatever it does besides. */
const READERS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", "/api/v1/buckets"],
  ["GET", `${B}/objects`],
  ["GET", `${B}/versions`],
  ["GET", `${B}/uploads`],
  ["GET", `${B}/multipart/k/parts?upload_id=u`],
  ["GET", `${B}/versioning`],
  ["GET", `${B}/acl`],
  ["GET", `${B}/objects/k/acl`],
  ["GET", `${B}/tags/k`],
  ["GET", `${B}/versions/k`],
  ["POST", `${B}/restore/k`, { version_id: "1" }],
  ["PUT", `${B}/acl`, ACL],
  ["GET", `${B}/cors`],
  ["POST", `${B}/objects/delete`, { keys: ["k"] }],
  ["POST", `${B}/objects/delete`, { prefix: "p" }],
  ["POST", `${B}/objects/k/copy`, { source_bucket: "b", source_key: "s" }],
  ["POST", `${B}/multipart/k`],
  ["POST", `${B}/multipart/k/presign`, { file_size: 1 }],
  ["POST", `${B}/multipart/k/complete`, { upload_id: "u", parts: [{ PartNumber: 1, ETag: "e" }] }],
  ["DELETE", `${B}?force=true`],
];

/** Lets every reader meet a store that speaks like this; a copy's look at its source is answered well. */
async function eachReader(
  speak: (socket: Socket) => void,
  check: (status: number, detail: string, what: string, store: RawStore) => void | Promise<void>,
) {
  await using store = await rawStore((socket, head) => {
    if (head.startsWith("HEAD")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n");
    else speak(socket);
  });
  await withGateway({ gateway: { addresses: store.addresses } }, async ({ call, logged }) => {
    for (const [method, path, body] of READERS) {
      const response = await call(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
      const { detail } = await response.json();
      await check(response.status, detail, `${method} ${path}`, store);
    }
    for (const line of logged()) {
      assert.notEqual(line.level, "error");
      assert.doesNotMatch(JSON.stringify(line), /Signature=0|AKIA/);
    }
  });
}

Deno.test("hostile XML: what is cut, broken or another document is 502 for every operation that reads XML", async () => {
  const bodies = [
    "",
    "nonsense",
    "<a><b></a></b>",
    "<html><body>It works!</body></html>",
    '<!DOCTYPE x [<!ENTITY a "aaaa">]><ListBucketResult>&a;</ListBucketResult>',
    "<?xml version='1.0'?>",
    "<a>".repeat(1000),
    `<SomethingElse><Url>${SIGNED}</Url></SomethingElse>`,
  ];
  for (const body of bodies) {
    await eachReader((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    }, (status, detail, what) => {
      assert.equal(status, 502, `${what}: ${body}`);
      assert.match(detail, /the store's response is not valid$/, what);
    });
  }
  const framings = ["Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n"];
  for (const framing of [...framings, "Transfer-Encoding: chunked\r\n\r\n"]) {
    await eachReader((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n${framing}<ListBucketResult>`);
    }, (status, detail, what) => {
      assert.equal(status, 502, what);
      assert.match(detail, /the store's response ended early$/, what);
    });
  }
});

Deno.test("hostile XML: numbers and dates that are none are 502", async () => {
  const entry = "<Key>k</Key><Size>much</Size>";
  const documents: Record<string, string> = {
    [`${B}/objects`]: `<ListBucketResult><Contents>${entry}</Contents></ListBucketResult>`,
    [`${B}/versions`]: `<ListVersionsResult><Version>${entry}</Version></ListVersionsResult>`,
    [`${B}/uploads`]:
      "<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>u</UploadId><Initiated>soon</Initiated></Upload></ListMultipartUploadsResult>",
    [`${B}/multipart/k/parts?upload_id=u`]:
      "<ListPartsResult><Part><PartNumber>-1</PartNumber></Part></ListPartsResult>",
    [`${B}/cors`]: "<CORSConfiguration><CORSRule><MaxAgeSeconds>-1</MaxAgeSeconds></CORSRule></CORSConfiguration>",
    [`${B}/acl`]:
      "<AccessControlPolicy><AccessControlList><Grant><Grantee><ID>u</ID></Grantee></Grant></AccessControlList></AccessControlPolicy>",
  };
  await withGateway({}, async ({ call, answer }) => {
    for (const [path, document] of Object.entries(documents)) {
      answer(() => new Response(document));
      const response = await call(path);
      assert.equal(response.status, 502, path);
      assert.match((await response.json()).detail, /the store's response is not valid$/);
    }
  });
});

Deno.test("hostile XML: a store that hangs before its answer is 504 for every operation but the ones it may work long on", async () => {
  const patient = /copy$|complete$/;
  const hanging = READERS.filter(([, path]) => !patient.test(path));
  await using store = await rawStore(() => {});
  await withGateway({ gateway: { addresses: store.addresses, s3TimeoutMs: 200 } }, async ({ call }) => {
    await Promise.all(hanging.map(async ([method, path, body]) => {
      const response = await call(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
      assert.deepEqual([response.status, await response.json()], [504, {
        detail: "S3 read timed out",
        code: "store_timeout",
      }], path);
    }));
  });
});

Deno.test("hostile XML: a store that cannot be reached is 502 for every operation", () =>
  withGateway({ gateway: { addresses: nowhere() } }, async ({ call }) => {
    for (const [method, path, body] of READERS) {
      const response = await call(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
      assert.deepEqual([response.status, await response.json()], [502, {
        detail: "S3 endpoint unreachable",
        code: "store_unreachable",
      }], path);
    }
  }));

Deno.test("hostile XML: a flood is read no further than its bound, and its connection is closed", async () => {
  const piece = `<x>${"y".repeat(64 * 1024)}</x>`;
  let sent = 0;
  let closedBefore = 0;
  await eachReader((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<r>\r\n");
    const more = () => {
      while (!socket.destroyed) {
        sent += piece.length;
        if (!socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)) return void socket.once("drain", more);
      }
    };
    more();
  }, async (status, detail, what, store) => {
    assert.equal(status, 502, what);
    assert.match(detail, /the store's response ended early$/, what);
    assert.ok(sent < 64 * 1024 * 1024, `${what}: ${sent} bytes were taken`);
    await store.closed(++closedBefore);
    sent = 0;
  });
});

Deno.test("hostile XML: an error under status 200 is an error of its own code, without signatures", async () => {
  const codes = [["AccessDenied", 403], ["SlowDown", 503], ["Unheard", 502]] as const;
  for (const [code, expected] of codes) {
    const body = `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>no: ${SIGNED}</Message></Error>`;
    await eachReader((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    }, (status, detail, what) => {
      // Who may set an access list need not be allowed to read it.
      if (code === "AccessDenied" && what === `PUT ${B}/acl`) return;
      assert.equal(status, expected, what);
      assert.match(detail, /no: \[url\]$/, what);
    });
  }
});
