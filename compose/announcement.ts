import { SAMPLE_LOGINS, SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import type { Config } from "@/lib/config/mod.ts";

/** The started parts, as the operator sees them. */
interface Started {
  readonly origin: string;
  readonly hasStore: boolean;
  /** The embedded cluster's API. */
  readonly cluster: { readonly url: string } | null;
  /** Where metrics are served; null: nowhere. */
  readonly metricsOrigin: string | null;
}

/** The first lines for the operator: addresses, sample logins, the data folder; a line each. */
export function announcement(config: Config, { origin, hasStore, cluster, metricsOrigin }: Started): string {
  // A process with the results role alone has no page to open.
  const lines = [config.gateway || config.web ? ["Site", `${origin}/`] : ["Results", `${origin}/results/`]];
  if (config.gateway) lines.push(["API", `${origin}/docs`]);
  if (metricsOrigin !== null) lines.push(["Metrics", `${metricsOrigin}/metrics`]);
  if (cluster) {
    lines.push(["Cluster", `${cluster.url} (kubectl --kubeconfig ${config.dataFolder}/kubeconfig get jobs)`]);
  }
  if (hasStore && !config.embedded.administrators) {
    for (const [i, { login, what }] of SAMPLE_LOGINS.entries()) {
      lines.push([i === 0 ? "Logins" : "", `${login.padEnd(20)} ${what}`]);
    }
    lines.push(["Password", `${SAMPLE_PASSWORD} (for each of them)`]);
  }
  if (hasStore || cluster) lines.push(["Data", Deno.realPathSync(config.dataFolder)]);
  return lines.map(([label, text]) => `${label.padEnd(12)}${text}`).join("\n");
}
