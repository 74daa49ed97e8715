import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectAclCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { GROUP_URI } from "@/embedded/store/s3/access_lists.ts";
import { clientOf, makeUser, statusOf } from "@/embedded/tests/store/acl_fixture.ts";
import { archiveMapi, post, statusAndText } from "@/embedded/tests/store/mapi_fixture.ts";
import { storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const GROUP = "/groupAccounts/L%C3%A4sare%20i%20%C3%85bo";

function permissions(namespaceName: string, ...permission: string[]) {
  return { namespacePermission: [{ namespaceName, permissions: { permission } }] };
}

storeTest("groups: are created, listed, read, changed and deleted, by case-insensitive names", async ({ store }) => {
  const group = { groupname: "Läsare i Åbo", roles: { role: ["MONITOR"] }, members: { username: ["READER"] } };
  assert.equal((await archiveMapi(store, "PUT", "/groupAccounts", group)).status, 200);
  assert.equal((await archiveMapi(store, "PUT", "/groupAccounts", { groupname: "LÄSARE I ÅBO" })).status, 409);
  assert.equal((await archiveMapi(store, "PUT", "/groupAccounts", { externalGroupID: "S-1-5-21-7" })).status, 200);
  const absent = { groupname: "a", members: { username: ["nobody"] } };
  assert.match(await statusAndText(archiveMapi(store, "PUT", "/groupAccounts", absent)), /^400 .*members/);
  assert.deepEqual((await archiveMapi(store, "GET", "/groupAccounts")).json(), {
    groupname: ["Läsare i Åbo", "S-1-5-21-7"],
  });
  const found = await archiveMapi(store, "GET", "/groupAccounts?filterString=l%C3%84&verbose=true");
  assert.deepEqual(found.json(), [{ ...group, members: { username: ["reader"] } }]);
  assert.deepEqual((await archiveMapi(store, "GET", GROUP)).json(), { ...group, members: { username: ["reader"] } });
  const changed = { allowNamespaceManagement: true };
  assert.equal((await archiveMapi(store, "POST", GROUP, changed)).status, 200);
  assert.deepEqual((await archiveMapi(store, "GET", GROUP)).json(), {
    ...group,
    ...changed,
    members: { username: ["reader"] },
  });
  await post(store, GROUP, { members: { username: [] }, roles: { role: [] } });
  assert.deepEqual((await archiveMapi(store, "GET", GROUP)).json(), {
    groupname: "Läsare i Åbo",
    roles: { role: [] },
    members: { username: [] },
    ...changed,
  });
  assert.equal((await archiveMapi(store, "HEAD", GROUP)).status, 200);
  assert.equal((await archiveMapi(store, "DELETE", GROUP)).status, 200);
  assert.equal((await archiveMapi(store, "DELETE", GROUP)).status, 404);
  assert.equal((await archiveMapi(store, "HEAD", GROUP)).status, 302);
  assert.equal((await archiveMapi(store, "POST", GROUP, {})).status, 404);
  assert.equal((await archiveMapi(store, "PATCH", GROUP, {})).status, 405);
});

storeTest("groups: members have the group's roles and its right to create namespaces", async ({ store }) => {
  await makeUser(store, "anna");
  const asAnna = async (method: string, path: string, body?: unknown) =>
    (await archiveMapi(store, method, path, body, "anna")).status;
  const own = clientOf(store, "anna");
  assert.equal(await asAnna("GET", "/groupAccounts"), 403);
  assert.equal(await storeErrorCode(own.send(new CreateBucketCommand({ Bucket: "annas" }))), "AccessDenied");
  const monitors = { groupname: "monitors", roles: { role: ["MONITOR"] }, members: { username: ["anna"] } };
  await archiveMapi(store, "PUT", "/groupAccounts", { ...monitors, allowNamespaceManagement: true });
  assert.equal(await asAnna("GET", "/groupAccounts"), 200);
  assert.equal(await asAnna("PUT", "/groupAccounts", { groupname: "more" }), 403);
  assert.equal(await asAnna("POST", "/groupAccounts/monitors", { roles: { role: ["ADMINISTRATOR"] } }), 403);
  assert.equal(await asAnna("DELETE", "/groupAccounts/monitors"), 403);
  assert.equal(await asAnna("POST", "/groupAccounts/monitors/dataAccessPermissions", permissions("letters")), 403);
  const seen = (await archiveMapi(store, "GET", "/groupAccounts/monitors", undefined, "anna")).json();
  assert.deepEqual(Object.keys(seen), ["groupname", "allowNamespaceManagement"]);
  await own.send(new CreateBucketCommand({ Bucket: "annas" }));
  assert.equal(await asAnna("PUT", "/namespaces", { name: "annas-too" }), 200);
  for (const document of ["versioningSettings", "permissions"]) {
    assert.equal(await asAnna("POST", `/namespaces/annas/${document}`, {}), 200, document);
    assert.equal(await asAnna("POST", `/namespaces/letters/${document}`, {}), 403, document);
  }
  await archiveMapi(store, "POST", "/groupAccounts/monitors", { roles: { role: ["SECURITY"] } });
  assert.equal(await asAnna("PUT", "/groupAccounts", { groupname: "more" }), 200);
  assert.equal(await asAnna("POST", "/groupAccounts/more/dataAccessPermissions", permissions("letters")), 403);
});

storeTest("permissions: a POST replaces those of the named namespaces, and adds what is implied", async ({ store }) => {
  await makeUser(store, "anna");
  await archiveMapi(store, "PUT", "/groupAccounts", { groupname: "readers" });
  for (const account of ["/userAccounts/ANNA", "/groupAccounts/READERS"]) {
    const path = `${account}/dataAccessPermissions`;
    const read = async (query = "") =>
      (await archiveMapi(store, "GET", path + query)).json().namespacePermission.map(
        (one: { namespaceName: string; permissions: { permission: string[] } }) =>
          `${one.namespaceName}: ${one.permissions.permission.join(" ")}`,
      );
    assert.deepEqual(await read(), []);
    const both = [...permissions("LETTERS", "SEARCH").namespacePermission, {
      namespaceName: "maps",
      permissions: { permission: ["PURGE", "CHOWN"] },
    }];
    assert.equal((await archiveMapi(store, "POST", path, { namespacePermission: both })).status, 200);
    assert.deepEqual(await read(), ["letters: BROWSE READ SEARCH", "maps: DELETE PURGE CHOWN"]);
    assert.deepEqual(await read("?sortOrder=descending&count=1"), ["maps: DELETE PURGE CHOWN"]);
    assert.deepEqual(await read("?filterString=LET"), ["letters: BROWSE READ SEARCH"]);
    await archiveMapi(store, "POST", path, permissions("letters", "WRITE"));
    assert.deepEqual(await read(), ["letters: WRITE", "maps: DELETE PURGE CHOWN"]);
    await archiveMapi(store, "POST", path, permissions("maps"));
    assert.deepEqual(await read(), ["letters: WRITE"]);
    const refused: [unknown, RegExp][] = [
      [{}, /namespacePermission/],
      [{ namespacePermission: [1] }, /namespacePermission/],
      [{ namespacePermission: [{ namespaceName: "letters" }] }, /permissions/],
      [permissions("letters", "read"), /permissions/],
      [
        {
          namespacePermission: [
            ...permissions("maps", "READ").namespacePermission,
            ...permissions("Maps").namespacePermission,
          ],
        },
        /namespaceName/,
      ],
    ];
    for (const [body, member] of refused) {
      const answer = await archiveMapi(store, "POST", path, body);
      assert.equal(answer.status, 400);
      assert.match(answer.text, member);
    }
    const absent = await archiveMapi(store, "POST", path, permissions("no-such", "READ"));
    assert.equal(absent.status, 409);
    assert.match(absent.text, /namespaceName/);
    assert.deepEqual(await read(), ["letters: WRITE"]);
  }
  const own = await archiveMapi(store, "GET", "/userAccounts/anna/dataAccessPermissions", undefined, "anna");
  assert.equal(own.status, 200);
});

storeTest("permissions: those of a user and of its groups add up, and end when they are removed", async ({ store }) => {
  await makeUser(store, "anna");
  const own = clientOf(store, "anna");
  const buckets = async () => (await own.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name) ?? [];
  const list = () => statusOf(own.send(new ListObjectsV2Command({ Bucket: "letters" })));
  const put = () => statusOf(own.send(new PutObjectCommand({ Bucket: "letters", Key: "new", Body: "x" })));
  assert.deepEqual([await list(), await put(), await buckets()], [403, 403, []]);
  await archiveMapi(store, "PUT", "/groupAccounts", { groupname: "readers", members: { username: ["anna"] } });
  await archiveMapi(store, "POST", "/groupAccounts/readers/dataAccessPermissions", permissions("letters", "READ"));
  assert.deepEqual([await list(), await put(), await buckets()], [200, 403, ["letters"]]);
  await archiveMapi(store, "POST", "/userAccounts/anna/dataAccessPermissions", permissions("letters", "WRITE"));
  assert.deepEqual([await list(), await put()], [200, 200]);
  await archiveMapi(store, "POST", "/groupAccounts/readers", { members: { username: [] } });
  assert.deepEqual([await list(), await put()], [403, 200]);
  await archiveMapi(store, "POST", "/userAccounts/anna/dataAccessPermissions", permissions("letters"));
  assert.deepEqual([await list(), await put(), await buckets()], [403, 403, []]);
});

storeTest("groups: a grant to a group is a grant to its members", async ({ store }) => {
  await makeUser(store, "anna");
  const [owner, anna] = [clientOf(store, "curator"), clientOf(store, "anna")];
  const at = { Bucket: "letters", Key: "leaf" };
  await owner.send(new PutObjectCommand({ ...at, Body: "leaf" }));
  const group = { groupname: "Läsare i Åbo", members: { username: ["anna"] } };
  await archiveMapi(store, "PUT", "/groupAccounts", group);
  const GrantRead = `uri="${GROUP_URI}${encodeURIComponent("läsare i åbo")}"`;
  await owner.send(new PutObjectAclCommand({ ...at, GrantRead }));
  const read = () => statusOf(anna.send(new GetObjectCommand(at)));
  assert.equal(await read(), 200);
  assert.equal(await statusOf(clientOf(store, "reader").send(new GetObjectCommand(at))), 403);
  await archiveMapi(store, "POST", GROUP, { members: { username: ["reader"] } });
  assert.equal(await read(), 403);
  // Another group of the same name is another group.
  await archiveMapi(store, "DELETE", GROUP);
  await archiveMapi(store, "PUT", "/groupAccounts", group);
  assert.equal(await read(), 403);
});
