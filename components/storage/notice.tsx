import type { ComponentChildren } from "preact";

interface NoticeProps {
  readonly tone?: "warn" | "bad";
  /** Whether uploads wait for the reader's answer, so that a screen reader says it at once. */
  readonly isUrgent?: boolean;
  readonly children: ComponentChildren;
}

/** What is said of the uploads of a page. */
export function Notice({ tone, isUrgent = tone === "bad", children }: NoticeProps) {
  return (
    <div class={tone ? `notice ${tone}` : "notice"} role={isUrgent ? "alert" : "status"}>
      {children}
    </div>
  );
}
