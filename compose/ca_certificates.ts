import type { Config } from "@/lib/config/mod.ts";

/** The further authorities of all upstreams, as PEM text; undefined without any. */
export function caCertificates(config: Config): string[] | undefined {
  return config.caFile === null ? undefined : [Deno.readTextFileSync(config.caFile)];
}
