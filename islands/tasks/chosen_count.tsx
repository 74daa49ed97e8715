import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { KeyName } from "@/components/storage/key_name.tsx";
import { browserClock } from "@/lib/client/poller.ts";
import { callDoor } from "@/lib/client/storage/door.ts";
import { type ChosenCount, countChosen } from "@/lib/client/storage/tasks/count_chosen.ts";
import type { WantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { nameIn } from "@/lib/presentation/storage/key_names.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import { TASK_QUESTIONS } from "@/lib/presentation/storage/task_sentences.ts";

/** Names that are listed one by one. */
const MAX_NAMES = 5;

/** What rows stand for: `isOver` once nothing more will be known. */
interface Counted {
  readonly isOver: boolean;
  readonly soFar: number;
  readonly count: ChosenCount | null;
}

/** Counts what rows of a folder stand for, from when a dialog opens until it closes. */
export function useChosenCount({ account, bucket }: WantedChange["folder"], rows: readonly StorageRow[]): Counted {
  const counted = useSignal<Counted>({ isOver: false, soFar: 0, count: null });
  useEffect(() => {
    const stop = new AbortController();
    countChosen({ account, bucket }, rows, {
      call: callDoor,
      clock: browserClock,
      signal: stop.signal,
      onCount: (soFar) => counted.value = { ...counted.peek(), soFar },
    }).then((count) => counted.value = { ...counted.peek(), isOver: true, count }, () => {});
    return () => stop.abort();
  }, []);
  return counted.value;
}

interface ChosenRowsProps {
  readonly rows: readonly StorageRow[];
  readonly prefix: string;
  readonly counted: Counted;
}

/** The first names of rows, and how many objects they stand for. */
export function ChosenRows({ rows, prefix, counted: { isOver, soFar, count } }: ChosenRowsProps) {
  return (
    <>
      <ul class="names">
        {rows.slice(0, MAX_NAMES).map(({ key }) => (
          <li key={key}>
            <KeyName name={nameIn(prefix, key)} />
          </li>
        ))}
        {rows.length > MAX_NAMES && <li>{TASK_QUESTIONS.others(rows.length - MAX_NAMES)}</li>}
      </ul>
      <p role="status">
        {!isOver
          ? TASK_QUESTIONS.counting(soFar)
          : count === null
          ? TASK_QUESTIONS.notCounted
          : TASK_QUESTIONS.counted(count.objects, formatBytes(count.bytes))}
      </p>
    </>
  );
}
