import type { ComponentChildren } from "preact";

interface FigureProps {
  readonly label: ComponentChildren;
  /** Class of the value. */
  readonly tone?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A figure and its label in a strip (`dl`). */
export function Figure({ label, tone, title, children }: FigureProps) {
  return (
    <div title={title}>
      <dt>{label}</dt>
      <dd class={tone}>{children}</dd>
    </div>
  );
}
