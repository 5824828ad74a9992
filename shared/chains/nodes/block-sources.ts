/** Most spans that are kept: about one for each change of the node in use. */
const SPANS_MAX = 256

/** Remembers who gave the blocks that were scanned; a few numbers for any number of blocks. */
export interface BlockSources<S> {
  /**
   * Blocks `from`…`to` came from this source. Where another one gave them before, either may have made what was found in them:
   * nobody is their source from then on. What was known of higher ones is forgotten: they were replaced.
   */
  note(source: S, from: number, to: number): void
  /** The only one who gave the block at a height; undefined when that is unknown, as for everything before this process began. */
  of(height: number): S | undefined
}

interface Span<S> {
  /** Undefined where several gave it. */
  readonly source: S | undefined
  readonly from: number
  readonly to: number
}

/** Knows nothing yet. */
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

/** The part of a span between two heights, both included; nothing when there is none. */
function cut<S>(span: Span<S>, lowest: number, highest: number): readonly Span<S>[] {
  const [from, to] = [Math.max(span.from, lowest), Math.min(span.to, highest)]
  return from > to ? [] : [{ ...span, from, to }]
}

/** The same with neighbours of one source as one span. Spans are in order. */
function joined<S>(spans: readonly Span<S>[]): readonly Span<S>[] {
  const result: Span<S>[] = []
  for (const span of spans) {
    const last = result.at(-1)
    if (last?.source === span.source && last?.to === span.from - 1) result.splice(-1, 1, { ...last, to: span.to })
    else result.push(span)
  }
  return result
}
