import assert from "node:assert/strict";

import { storagePages } from "./fake_gateway.ts";

/** What the gateway returns, by what is read. */
interface Answers {
  /** The status of listings and of objects. */
  readonly read: number;
  /** The account's own data access permissions in `letters`. */
  readonly own?: readonly string[];
  /** The status of the completion of an upload that does not exist. */
  readonly probe?: number;
}

/** The storage pages over a gateway that answers like this. `tried` are the paths of look-ups of rights. */
function pages({ read, own = [], probe = 403 }: Answers) {
  const tried: string[] = [];
  const { open } = storagePages(({ call }) => {
    const isProbe = call.endsWith("/complete");
    if (isProbe || call.endsWith("/dataAccessPermissions")) {
      tried.push(call.slice(call.lastIndexOf("/") + 1));
      const namespacePermission = [{ namespaceName: "letters", permissions: { permission: own } }];
      return isProbe ? Response.json({}, { status: probe }) : Response.json({ namespacePermission });
    }
    if (call.startsWith("HEAD ")) return new Response(null, { status: read, headers: { "Content-Length": "3" } });
    if (!call.endsWith("/objects")) return null;
    return Response.json({ objects: [], common_prefixes: [], is_truncated: false }, { status: read });
  });
  return { open, tried };
}

const FOLDER = "/storage/folder?account=archive%2Folle&bucket=letters";
const OBJECT = "/storage/object?account=archive%2Folle&bucket=letters&key=a.txt";
const READ_ONLY = /You may read but not change this bucket\./;

Deno.test("storage pages: a folder and an object offer the changes that the account's rights allow", async () => {
  for (const path of [FOLDER, OBJECT]) {
    const reader = pages({ read: 200, own: ["BROWSE", "READ"] });
    const shown = await reader.open(path);
    assert.equal(shown.status, 200);
    assert.match(shown.html, READ_ONLY);
    assert.deepEqual(reader.tried, ["dataAccessPermissions", "complete"]);
    const writer = pages({ read: 200, own: ["BROWSE", "READ", "WRITE", "DELETE"] });
    assert.doesNotMatch((await writer.open(path)).html, /You may (?:read|not)/);
    assert.deepEqual(writer.tried, ["dataAccessPermissions"]);
  }
});

Deno.test("storage pages: a folder lists what is left of uploads to accounts alone that may write", async () => {
  const html = async (answers: Answers) => (await pages(answers).open(FOLDER)).html;
  assert.match(await html({ read: 200, own: ["BROWSE", "WRITE"] }), /Unfinished uploads/);
  assert.doesNotMatch(await html({ read: 200, own: ["BROWSE", "READ"] }), /Unfinished uploads/);
});

Deno.test("storage pages: no rights are looked up for a login that the store did not accept", async () => {
  for (const path of [FOLDER, OBJECT]) {
    for (const read of [401, 403, 503]) {
      const { open, tried } = pages({ read, own: ["BROWSE"] });
      await open(path);
      assert.deepEqual(tried, [], `${path}: ${read}`);
    }
  }
});

Deno.test("storage pages: a page without its listing or object has the status of the gateway's error", async () => {
  for (const path of [FOLDER, OBJECT]) {
    for (const read of [429, 502, 503, 504]) {
      const { status, html } = await pages({ read }).open(path);
      assert.equal(status, read, path);
      assert.match(html, /class="banner bad"/);
    }
  }
  assert.equal((await pages({ read: 200 }).open("/storage?account=archive%2Folle")).status, 404);
});

Deno.test("storage pages: an empty account in the address is none, so the page is that of the newest login", async () => {
  const { status, html } = await pages({ read: 200, own: ["BROWSE", "READ"] }).open(
    FOLDER.replace("archive%2Folle", ""),
  );
  assert.equal(status, 200);
  assert.match(html, /archive\/olle/);
  assert.doesNotMatch(html, /not logged in/);
});
