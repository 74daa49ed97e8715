import assert from "node:assert/strict";
import type { Application } from "@/tests/application.ts";

/** The samples of one scrape: the name of a series, with its labels as they are written, and its value. */
export type Samples = ReadonlyMap<string, number>;

/** The address that a start printed for its metrics. */
export function metricsUrl(application: Application): string {
  const url = application.output().match(/^Metrics\s+(\S+)$/m)?.[1];
  assert.ok(url, "the start prints where metrics are");
  return url;
}

/** Scrapes the metrics of an application. */
export async function scrape(url: string): Promise<Samples> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  return samplesOf(await response.text());
}

/** The samples of a text in the format of Prometheus. @throws for a line that is none */
export function samplesOf(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, series, value] = line.match(/^([a-z_]+(?:\{[^{}]*\})?) (\S+)$/) ?? [];
    assert.ok(series !== undefined && Number.isFinite(Number(value)), line);
    assert.ok(!samples.has(series), `${series} stands once`);
    samples.set(series, Number(value));
  }
  return samples;
}

/** The sum of the samples of a name that have all of these labels, each written as `name="value"`; 0 without any. */
export function sumOf(samples: Samples, name: string, ...labels: readonly string[]): number {
  let sum = 0;
  for (const [series, value] of samples) {
    const [own, rest = ""] = series.split("{");
    if (own === name && labels.every((label) => rest.includes(label))) sum += value;
  }
  return sum;
}
