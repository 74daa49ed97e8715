import assert from "node:assert/strict";
import { startStore } from "@/compose/sample_store.ts";
import { readPorts } from "@/embedded/store/ports.ts";
import { diskFiles, readConfig } from "@/lib/config/mod.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";

const RESULTS = "https://stackroom.example/results";

Deno.test(
  "embedded store: pages of this process read it under each of its names, with the scheme that it is served by",
  // The store's threads end with the process.
  async () => {
    const path = Deno.makeTempDirSync();
    const config = readConfig({ EMBEDDED: "on", DATA_DIR: path, CAMPAIGN_RESULTS_URL: RESULTS }, diskFiles);
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

Deno.test(
  "data folder: each damage ends the start with one sentence that names the file and the way out",
  async () => {
    const path = Deno.makeTempDirSync();
    const folder = DataFolder.open(path);
    Deno.writeTextFileSync(`${path}/index.db`, "?".repeat(5000));
    Deno.mkdirSync(`${path}/token-key.secret`);
    Deno.writeTextFileSync(`${path}/ports.json`, "{");
    const ends = (sentence: RegExp) => (error: unknown) =>
      error instanceof DataFolderError && sentence.test(error.message);
    assert.throws(() => readPorts(`${path}/ports.json`), ends(/^The file .*ports\.json is damaged: .*$/));
    assert.throws(() => folder.secret("token-key"), ends(/^The file .*token-key\.secret cannot be read .*$/));
    Deno.removeSync(`${path}/ports.json`);
    const config = readConfig({ EMBEDDED: "on", DATA_DIR: path, CAMPAIGN_RESULTS_URL: RESULTS }, diskFiles);
    const site = { origin: "http://127.0.0.1:8000", port: 8000 };
    const starting = startStore(config, folder, site, assert.fail);
    await assert.rejects(starting, ends(/^The index .*index\.db cannot be opened .* DATA_DIR .*$/));
    folder.close();
    Deno.removeSync(path, { recursive: true });
  },
);
