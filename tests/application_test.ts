import assert from "node:assert/strict";

import { startApplication } from "./application.ts";

const SERVES = `
const server = Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")), onListen() {} }, () => {
  return new Response(JSON.stringify(Deno.env.toObject()));
});
Deno.addSignalListener("SIGTERM", async () => {
  await server.shutdown();
  Deno.exit(0);
});
console.log("Data folder " + Deno.env.get("DATA_DIR"));
console.log("Site        http://127.0.0.1:" + server.addr.port + "/");
`;

async function withProgram(source: string, use: (main: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/main.ts`, source);
    await use(`${folder}/main.ts`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("application: answers at the address it printed, with the settings given and no others", async () => {
  await withProgram(SERVES, async (main) => {
    // Not the name of a setting: tests of other workers share the environment and start programs meanwhile.
    Deno.env.set("OF_THE_DEVELOPER", "1");
    try {
      const application = await startApplication({ main, env: { ROLES: "gateway" } });
      const env = await (await fetch(application.site)).json();
      assert.equal(env.ROLES, "gateway");
      assert.equal(env.OF_THE_DEVELOPER, undefined);
      assert.equal(env.DATA_DIR, application.dataFolder);
      const status = await application.stop();
      assert.equal(status.code, 0);
      await assert.rejects(Deno.stat(application.dataFolder), Deno.errors.NotFound);
    } finally {
      Deno.env.delete("OF_THE_DEVELOPER");
    }
  });
});

Deno.test("application: has the start task's permissions, so it may not start programs", async () => {
  await withProgram(`new Deno.Command("true").outputSync();`, async (main) => {
    await assert.rejects(startApplication({ main }), /requires run access/i);
  });
});
