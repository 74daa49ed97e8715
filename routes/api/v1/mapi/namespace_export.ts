import { z } from "zod";
import { compressibleJson } from "@/lib/http/compressible.ts";
import { invalid } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { Mapi } from "@/lib/mapi/client.ts";
import { exportNamespaces } from "@/lib/mapi/namespace_export.ts";
import { exportQuery, MAX_EXPORTED, namespaceTemplates } from "@/lib/mapi/records/namespace.ts";
import type { GatewayOperation } from "@/routes/api/v1/operation.ts";
import { FAILURES, parameters, PREFIX } from "./mapi_operations.ts";

const TAG = "Namespace: Templates";
const ONE = "/tenants/{tenant_name}/namespaces/{ns}/export";
const MANY = "/tenants/{tenant_name}/namespaces/export";

/** Namespaces as templates, from which similar ones can be created elsewhere. */
export function namespaceExportOperations(operation: GatewayOperation, mapi: Mapi, now: () => number): Operation[] {
  const responses = { 200: { description: "The templates", schema: namespaceTemplates }, ...FAILURES };
  return [
    operation({
      id: "export_namespaces",
      method: "GET",
      path: PREFIX + MANY,
      tag: TAG,
      summary: "Several namespaces as templates",
      params: parameters(MANY),
      query: exportQuery,
      responses,
      handler: async ({ caller, params: { tenant_name }, query }, { request }) =>
        compressibleJson(request, await exportNamespaces(mapi, caller, tenant_name, namesOf(query), now())),
    }),
    operation({
      id: "export_namespace",
      method: "GET",
      path: PREFIX + ONE,
      tag: TAG,
      summary: "A namespace as a template",
      params: parameters(ONE),
      query: z.object({}),
      responses,
      handler: async ({ caller, params: { tenant_name, ns } }, { request }) =>
        compressibleJson(request, await exportNamespaces(mapi, caller, tenant_name, [ns], now())),
    }),
  ];
}

/** The names of a list with commas, each once. Throws 422 when there are too many. */
function namesOf({ names }: z.output<typeof exportQuery>): string[] {
  const all = [...new Set(names.split(",").map((name) => name.trim()).filter((name) => name !== ""))];
  if (all.length <= MAX_EXPORTED) return all;
  throw invalid([{
    type: "too_long",
    loc: ["query", "names"],
    msg: `List should have at most ${MAX_EXPORTED} items after validation, not ${all.length}`,
    ctx: { field_type: "List", max_length: MAX_EXPORTED, actual_length: all.length },
  }]);
}
