import { runLogPath } from "@/lib/presentation/page_paths.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";

interface LogLinkProps {
  readonly logUrl: string;
  readonly manifestUrl: string | null;
  /** The run may still write to it. */
  readonly live: boolean;
  /** Whose log it is, for those who do not see the row. */
  readonly of: string;
}

export function LogLink({ logUrl, manifestUrl, live, of }: LogLinkProps) {
  return <a href={runLogPath(logUrl, manifestUrl, live)} aria-label={LABELS.logOf(of)}>{LABELS.log}</a>;
}
