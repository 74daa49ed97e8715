import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { TASK_LABELS } from "@/lib/presentation/storage/task_sentences.ts";

interface ChangeDialogProps {
  readonly title: string;
  /** The words of the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Whether it cannot be done yet. */
  readonly isWaiting?: boolean;
  /** Why it was not done. */
  readonly problem: string | null;
  onConfirm(): void;
  onClose(): void;
  readonly children: ComponentChildren;
}

/** A dialog before a change: what it is about, a button that does it and one that does not. */
export function ChangeDialog(
  { title, action, isDangerous = false, isWaiting = false, problem, onConfirm, onClose, children }: ChangeDialogProps,
) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    // The focus goes back to what had it, where that is still there.
    return () => current?.close();
  }, []);
  return (
    <dialog class="change" ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isWaiting) onConfirm();
        }}
      >
        <h2 id={heading}>
          <bdi>{title}</bdi>
        </h2>
        {children}
        <p class="wrong" role="alert">{problem}</p>
        <div class="btns">
          <button type="button" class="btn" onClick={() => dialog.current?.close()}>{TASK_LABELS.cancel}</button>
          <button type="submit" class={isDangerous ? "btn primary danger" : "btn primary"} aria-disabled={isWaiting}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
