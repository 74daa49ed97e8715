import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The label names of metrics with a value for each. */
export type Labels = Readonly<Record<string, string>>;

/** The prefix of all names but those of the process, which Prometheus's conventions fix. */
const PREFIX = "stackroom_";

/** What a metric is, for the documentation. */
interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value that is set at each scrape. */
interface Reading {
  /** @param value of a counter: since the start, so it never falls */
  set(labels: Labels, value: number): void;
  /** Leaves the metric without a value. */
  clear(): void;
}

/** The metrics of a process. This file alone imports the package for Prometheus. */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #descriptions: MetricDescription[] = [];
  readonly #readers: (() => Promise<void>)[] = [];
  #scrape: Promise<string> | null = null;

  /** A counter that holds what another part of the process has counted. */
  counter(name: string, help: string, labels: readonly string[] = []): Reading {
    const counter = new Counter(this.#described("counter", name, help, labels));
    return unset(labels, counter, (values, value) => {
      counter.remove(values);
      counter.inc(values, value);
    });
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Reading {
    const gauge = new Gauge(this.#described("gauge", name, help, labels));
    return unset(labels, gauge, (values, value) => gauge.set(values, value));
  }

  /** @param buckets their upper bounds, ascending */
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram {
    return new Histogram({ ...this.#described("histogram", name, help, labels), buckets: [...buckets] });
  }

  /**
   * Calls `read` before each scrape, to set what is read from other parts. Where it throws, its metrics stay as they
   * were, and a line says so once until it succeeds again: the scrape has the values of all others.
   */
  onScrape(read: () => void | Promise<void>): void {
    let hasFailed = false;
    this.#readers.push(async () => {
      try {
        await read();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) console.error("Some metrics cannot be read and have old values or none:", error);
        hasFailed = true;
      }
    });
  }

  /** All metrics as they were defined. */
  descriptions(): readonly MetricDescription[] {
    return this.#descriptions;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All values in the text format of Prometheus. Scrapes at the same time share one. */
  text(): Promise<string> {
    this.#scrape ??= this.#read().finally(() => this.#scrape = null);
    return this.#scrape;
  }

  async #read(): Promise<string> {
    await Promise.all(this.#readers.map((read) => read()));
    return await this.#registry.metrics();
  }

  #described(type: MetricDescription["type"], given: string, help: string, labels: readonly string[]) {
    const name = given.startsWith("process_") ? given : PREFIX + given;
    this.#descriptions.push({ name, type, help, labels });
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

/** A metric of a part that this process does not have shows no value: 0 would be a claim. */
function unset(labels: readonly string[], metric: Counter | Gauge, set: Reading["set"]): Reading {
  const clear = () => labels.length > 0 ? metric.reset() : metric.remove({});
  clear();
  return { set, clear };
}
