import assert from "node:assert/strict";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { logIn } from "./gateway_client.ts";

const ARCHIVE = "/mapi/tenants/archive";

Deno.test("records: what the management API answered is there after a kill, and so are the counts of writes", async () => {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-test-" });
  try {
    const first = await startApplication({ dataFolder, env: STORAGE_ONLY });
    const curator = await logIn(first.site, "archive/curator");
    const user = { fullName: "Lena", localAuthentication: true, enabled: true, forcePasswordChange: false };
    await curator.json("PUT", `${ARCHIVE}/namespaces`, { name: "kept", hardQuota: "3 GB" });
    await curator.json("PUT", `${ARCHIVE}/userAccounts?password=first-12`, { ...user, username: "lena" });
    await curator.json("POST", `${ARCHIVE}/userAccounts/lena/changePassword`, { newPassword: "second-12" });
    await curator.json("PUT", `${ARCHIVE}/contentClasses`, { name: "kept", namespaces: ["kept"] });
    await curator.json("POST", `${ARCHIVE}/namespaces/kept/protocols/nfs`, { uid: 7 });
    await curator.json("PUT", `/buckets/kept/objects/a`, "12345");
    await curator.json("POST", `${ARCHIVE}/contactInfo`, { city: "Åbo" });
    await first.kill();

    const second = await startApplication({ dataFolder, env: STORAGE_ONLY });
    try {
      const curator = await logIn(second.site, "archive/curator");
      assert.equal((await curator.json("GET", `${ARCHIVE}/contactInfo`)).city, "Åbo");
      assert.equal((await curator.json("GET", `${ARCHIVE}/namespaces/kept`)).hardQuota, "3 GB");
      assert.equal((await curator.json("GET", `${ARCHIVE}/namespaces/kept/protocols/nfs`)).uid, 7);
      assert.deepEqual((await curator.json("GET", `${ARCHIVE}/contentClasses/kept`)).namespaces, ["kept"]);
      const { chargebackData } = await curator.json("GET", `${ARCHIVE}/namespaces/kept/chargebackReport`);
      assert.ok(Array.isArray(chargebackData));
      const [{ bytesIn, writes, objectCount }] = chargebackData;
      assert.deepEqual([bytesIn, writes, objectCount], [5, 1, 1]);
      const own = await logIn(second.site, "archive/lena", "second-12");
      assert.equal((await own.json("GET", `${ARCHIVE}/userAccounts/lena`)).fullName, "Lena");
    } finally {
      await second.stop();
    }
  } finally {
    await Deno.remove(dataFolder, { recursive: true });
  }
});
