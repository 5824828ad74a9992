/** Most spans stored: about one for each change of the node in use. */
const SPANS_MAX = 256

/** Records which node returned the scanned blocks; a few numbers for any number of blocks. */
export interface BlockSources<S> {
  /**
   * Blocks `from`…`to` came from this source. Where another one returned them before, either may have caused their findings:
   * they have no source from then on. Records of higher ones are dropped: those blocks were replaced.
   */
  note(source: S, from: number, to: number): void
  /** The only source of the block at a height; undefined when that is unknown, as for everything before this process started. */
  of(height: number): S | undefined
}

interface Span<S> {
  /** Undefined where several sources returned it. */
  readonly source: S | undefined
  readonly from: number
  readonly to: number
}

/** Starts empty. */
export function createBlockSources<S>(): BlockSources<S> {
  let spans: readonly Span<S>[] = []
  return {
    note(source, from, to) {
      const below = spans.flatMap((span) => cut(span, Number.NEGATIVE_INFINITY, from - 1))
      const contested = spans
        .filter((span) => span.source !== source)
        .flatMap((span) => cut<S>({ ...span, source: undefined }, from, to))
      const added: Span<S>[] = []
      let next = from
      for (const span of contested) {
        added.push(...cut({ source, from: next, to: span.from - 1 }, from, to), span)
        next = span.to + 1
      }
      added.push(...cut({ source, from: next, to }, from, to))
      spans = joined([...below, ...added]).slice(-SPANS_MAX)
    },
    of: (height) => spans.findLast((span) => span.from <= height && height <= span.to)?.source,
  }
}

/** The part of a span between two heights, both included; empty when there is none. */
function cut<S>(span: Span<S>, lowest: number, highest: number): readonly Span<S>[] {
  const [from, to] = [Math.max(span.from, lowest), Math.min(span.to, highest)]
  return from > to ? [] : [{ ...span, from, to }]
}

/** The same with adjacent spans of one source merged. Spans are in order. */
function joined<S>(spans: readonly Span<S>[]): readonly Span<S>[] {
  const result: Span<S>[] = []
  for (const span of spans) {
    const last = result.at(-1)
    if (last?.source === span.source && last?.to === span.from - 1) result.splice(-1, 1, { ...last, to: span.to })
    else result.push(span)
  }
  return result
}
