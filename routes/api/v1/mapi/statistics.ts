import type { Operation } from "@/lib/http/operation.ts";
import { chargebackQuery, chargebackReport, statistics } from "@/lib/mapi/records/statistics.ts";
import type { MapiOperations } from "./mapi_operations.ts";

/** What tenants and namespaces hold and what was done with them, for those with the role MONITOR. */
export function statisticsOperations({ read }: MapiOperations): Operation[] {
  const levels = [
    {
      of: "tenant",
      base: "/tenants/{tenant_name}",
      tag: "Tenant Admin: Statistics",
      resource: ({ tenant_name }: Readonly<Record<string, string>>) => `tenant '${tenant_name}'`,
    },
    {
      of: "namespace",
      base: "/tenants/{tenant_name}/namespaces/{ns}",
      tag: "Namespace: Statistics",
      resource: ({ ns }: Readonly<Record<string, string>>) => `namespace '${ns}'`,
    },
  ];
  return levels.flatMap(({ of, base, tag, resource }) => [
    read({
      id: `get_${of}_statistics`,
      path: `${base}/statistics`,
      tag,
      summary: `What the ${of} holds`,
      resource,
      schema: statistics,
    }),
    read({
      id: `get_${of}_chargeback_report`,
      path: `${base}/chargebackReport`,
      tag,
      summary: `What was done with the ${of}, by intervals`,
      resource,
      query: chargebackQuery,
      schema: chargebackReport,
    }),
  ]);
}
