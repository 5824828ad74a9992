/** Series by selector in promtool's notation (`1+0x30` = thirty-one ones, `0+1x30` = counting up, `_x9` = nothing nine times). */
type Series = Readonly<Record<string, string>>

/** When an alert fires and when it must not; each list has at least one story. */
export interface AlertCase {
  /** Time between values. Default 10 s. */
  readonly interval?: string
  readonly fires: readonly { readonly why: string; readonly series: Series; readonly at: string }[]
  readonly silent: readonly { readonly why: string; readonly series: Series; readonly at: string }[]
}

/** A gauge that stays at `bad` must alert at `at`, and must not when it stays at `good` or is bad too briefly. */
export function gauge(selector: string, bad: number, good: number, at: string, before: string): AlertCase {
  return {
    fires: [{ why: `stays at ${bad}`, series: { [selector]: `${bad}+0x400` }, at }],
    silent: [
      { why: `stays at ${good}`, series: { [selector]: `${good}+0x400` }, at },
      { why: 'has not lasted yet', series: { [selector]: `${bad}+0x400` }, at: before },
    ],
  }
}

/** A counter that rises, or is born at 1, must alert; one that stands must not. */
export function counter(selector: string): AlertCase {
  return {
    fires: [
      { why: 'rises', series: { [selector]: '0+0x120 1+1x20' }, at: '22m' },
      { why: 'is born at 1', series: { [selector]: '_x120 1+0x20' }, at: '21m' },
    ],
    silent: [
      { why: 'stands since long', series: { [selector]: '3+0x500' }, at: '80m' },
      { why: 'is born at 0', series: { [selector]: '_x120 0+0x20' }, at: '21m' },
    ],
  }
}

/** The age of the oldest row that waits in a queue, checked as a gauge. */
export const queueAge = (queue: string, bad: number, good: number, at: string, before: string) =>
  gauge(`paymesh_queue_oldest_due_age_seconds{queue="${queue}"}`, bad, good, at, before)
