/** `deno task docs:openapi`: writes the golden copy of `/openapi.json`, which a test compares with what is served. */
import { GOLDEN, printed, servedDocument } from "@/tests/docs/openapi_document.ts";
import { toolArguments } from "./arguments.ts";

toolArguments("deno task docs:openapi");
await Deno.writeTextFile(GOLDEN, `${printed(await servedDocument())}\n`);
