/**
 * Generates clients of `/openapi.json` with two generators and compiles them. It needs Node.js (for `npx`) and Python,
 * and fetches the generators where they are not on the PATH.
 */
import { startApplication } from "@/tests/application.ts";
import { toolArguments } from "./arguments.ts";
import { inTemporaryFolder, MissingTool, onPath, pythonTool, run } from "./temporary_tool.ts";

const TYPESCRIPT_GENERATOR = "openapi-typescript@7.13.0";
const PYTHON_GENERATOR = "openapi-python-client==0.29.1";

/** Imports every module of a package: compiling alone does not find names that are missing. */
const IMPORT_ALL = `
import importlib, pkgutil, stackroom_client
names = [module.name for module in pkgutil.walk_packages(stackroom_client.__path__, "stackroom_client.")]
for name in names:
    importlib.import_module(name)
print(f"Python: {len(names)} modules import")
`;

toolArguments("deno run --config deno.test.json -A tools/try_clients.ts");
await inTemporaryFolder("clients", async (folder) => {
  const document = `${folder}/openapi.json`;
  await Deno.writeTextFile(document, await readDocument());
  await typescriptClient(folder, document);
  await pythonClient(folder, document);
});

/** The document as the application serves it with all its roles. */
async function readDocument(): Promise<string> {
  const application = await startApplication();
  try {
    return await (await fetch(`${application.site}openapi.json`)).text();
  } finally {
    await application.stop();
  }
}

async function typescriptClient(folder: string, document: string): Promise<void> {
  const npx = onPath("npx");
  if (!npx) throw new MissingTool("npx is missing: install Node.js 20 or later");
  const client = `${folder}/client.ts`;
  await run(npx, ["--yes", TYPESCRIPT_GENERATOR, document, "--output", client], { cwd: folder });
  await Deno.writeTextFile(`${folder}/deno.json`, "{}");
  await run(Deno.execPath(), ["check", "--quiet", client], { cwd: folder });
  console.log("TypeScript: the types compile");
}

async function pythonClient(folder: string, document: string): Promise<void> {
  const generator = await pythonTool("openapi-python-client", PYTHON_GENERATOR, folder);
  const client = `${folder}/stackroom_client`;
  // The code is not published, so it needs no formatter; an absent one would be a warning.
  const config = `${folder}/generator.yml`;
  await Deno.writeTextFile(config, "post_hooks: []\n");
  const options = [
    "--path",
    document,
    "--output-path",
    client,
    "--meta",
    "none",
    "--config",
    config,
    "--fail-on-warning",
  ];
  await run(generator, ["generate", ...options], { cwd: folder });
  // The generator's own interpreter has what its clients import.
  const python = `${(await Deno.realPath(generator)).replace(/\/[^/]*$/, "")}/python3`;
  await run(python, ["-m", "compileall", "-q", client]);
  await run(python, ["-c", IMPORT_ALL], { cwd: folder });
}
