import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ownKeyIdentities, sharedKeyIdentities, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { parseUsersFile, usersFileCheck, usersFileLine } from "@/lib/auth/users_file.ts";

const claims = (sub: string, pwd: string, tenant: string | null = null) => ({ sub, pwd, tenant });

Deno.test("native: the header and the S3 keys are the same two halves", async () => {
  const identify = storeIdentities("native");
  const green = await identify(claims("lgreen", "p4ssw0rd", "t"));
  assert.equal(green.mapiAuthorization, "HCP bGdyZWVu:2a9d119df47ff993b662a8ef36f9ea20");
  assert.deepEqual(green.s3, { accessKey: "bGdyZWVu", secretKey: "2a9d119df47ff993b662a8ef36f9ea20" });
  assert.equal((await identify(claims("u", ""))).s3.secretKey, "d41d8cd98f00b204e9800998ecf8427e");
  assert.equal((await identify(claims("å:ß", "x"))).s3.accessKey, "w6U6w58=");
});

Deno.test("ad: name and password go as they are, and what fits no header gets none", async () => {
  const identify = storeIdentities("ad");
  assert.equal((await identify(claims("u", "p:w"))).mapiAuthorization, "AD u:p:w");
  const header = (await identify(claims("å", "p"))).mapiAuthorization;
  assert.ok(header);
  new Headers({ Authorization: header });
  for (const pwd of ["a\r\nX: y", "a\0", "ends "]) {
    assert.equal((await identify(claims("u", pwd))).mapiAuthorization, null);
  }
  assert.equal((await identify(claims("u", "p"))).s3.secretKey, "83878c91171338902e0fe0fb97a8c47a");
});

Deno.test("own keys: the name is the access key, unless no header could carry it", async () => {
  const identify = ownKeyIdentities("native");
  const { s3, mapiAuthorization } = await identify(claims("AKIA1", "secret"));
  assert.deepEqual(s3, { accessKey: "AKIA1", secretKey: "secret" });
  assert.equal(mapiAuthorization, `HCP QUtJQTE=:${createHash("md5").update("secret").digest("hex")}`);
  for (const name of ["", "a b", "a,b", "å", "a\nb"]) assert.throws(() => identify(claims(name, "x")), { status: 401 });
});

Deno.test("shared keys: accepts every caller, or those in the users file", async () => {
  const keys = { accessKey: "A", secretKey: "S" };
  assert.deepEqual((await sharedKeyIdentities(keys, null, "native")(claims("any", "thing"))).s3, keys);
  const file = `# users\n${await usersFileLine("anna", "right")}\n\n${await usersFileLine("b:o", "other")}\n`;
  assert.ok(!file.includes("right"));
  const identify = sharedKeyIdentities(keys, usersFileCheck(parseUsersFile(file)), "native");
  assert.deepEqual((await identify(claims("anna", "right"))).s3, keys);
  assert.deepEqual((await identify(claims("anna", "right"))).s3, keys);
  assert.deepEqual((await identify(claims("b:o", "other"))).s3, keys);
  for (const [name, password] of [["anna", "wrong"], ["anna", "other"], ["nobody", "right"], ["", ""]]) {
    await assert.rejects(async () => await identify(claims(name, password)), { status: 401 });
  }
});

Deno.test("users file: a bad line is named by its number, without its content", () => {
  for (
    const line of [
      "anna",
      "anna:plain-password",
      "anna:scrypt$3$8$1$YWJjZGVmZ2g=$YWJjZGVmZ2hhYmNkZWZnaA==",
      "anna:scrypt$16777216$8$1$YWJjZGVmZ2g=$YWJjZGVmZ2hhYmNkZWZnaA==",
    ]
  ) {
    assert.throws(
      () => parseUsersFile(`# x\n${line}`),
      (error: Error) => /^line 2:/.test(error.message) && !error.message.includes("plain-password"),
    );
  }
});

Deno.test("users file: too many first checks at once are turned away", async () => {
  const check = usersFileCheck(parseUsersFile(await usersFileLine("anna", "right")));
  const results = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => check("anna", `wrong ${n}`)));
  const refused = results.filter((result) => result.status === "rejected");
  assert.equal(refused.length, 6);
  assert.ok(refused.every((result) => result.status === "rejected" && result.reason.status === 503));
});
