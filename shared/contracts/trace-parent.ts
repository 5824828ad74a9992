/** A caller's place in its trace, from the header `traceparent`. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the caller records this trace. */
  readonly isSampled: boolean
}

/** Version 00 (W3C Trace Context, level 1, section 3.2): exactly these 55 characters; later versions may only append. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const LENGTH_MAX = 256

/** Reads a `traceparent`; null unless it is well-formed, as if there were none. Nothing else of a caller's context is kept. Pure. */
export function parseTraceParent(header: string | readonly string[] | undefined): TraceParent | null {
  if (typeof header !== 'string' || header.length > LENGTH_MAX) return null
  const [, version, traceId = '', spanId = '', flags = '', more] = FORM.exec(header) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
