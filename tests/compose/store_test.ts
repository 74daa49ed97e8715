import assert from "node:assert/strict";
import { startStore } from "@/compose/sample_store.ts";
import { diskFiles, readConfig } from "@/lib/config/mod.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";

Deno.test(
  "embedded store: pages of this process read it under each of its names, with the scheme that it is served by",
  // The store's threads end with the process.
  { sanitizeOps: false, sanitizeResources: false },
  async () => {
    const path = Deno.makeTempDirSync();
    const results = "https://stackroom.example/results";
    const config = readConfig({ EMBEDDED: "on", DATA_DIR: path, CAMPAIGN_RESULTS_URL: results }, diskFiles);
    const folder = DataFolder.open(path);
    const site = { origin: "https://127.0.0.1:8443", port: 8443 };
    const store = await startStore(config, folder, site, assert.fail);
    try {
      const address = await store.addresses.s3("archive");
      const statusFor = async (origin: string) => {
        const headers = { origin, "access-control-request-method": "PUT" };
        return (await fetch(`${address?.endpoint}/letters/x`, { method: "OPTIONS", headers })).status;
      };
      for (const name of ["localhost", "127.0.0.1", "stackroom.example"]) {
        assert.equal(await statusFor(`https://${name}:8443`), 204, name);
        assert.equal(await statusFor(`http://${name}:8443`), 403, name);
      }
    } finally {
      await store.stop();
      folder.close();
      Deno.removeSync(path, { recursive: true });
    }
  },
);
