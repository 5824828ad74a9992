import { expect, it } from 'vitest'
import { parseTraceParent } from './trace-parent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

it('reads the place of a caller in its trace', () => {
  const place = { traceId: TRACE, spanId: SPAN }
  expect(parseTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual({ ...place, isSampled: true })
  expect(parseTraceParent(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...place, isSampled: false })
  expect(parseTraceParent(`cc-${TRACE}-${SPAN}-03-what-comes`)).toEqual({ ...place, isSampled: true })
})

// Guarantee: what a stranger sends under this name is a place in a trace, or nothing.
it.each([
  undefined,
  '',
  [`00-${TRACE}-${SPAN}-01`],
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01\n`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`,
])('takes %j for none', (header) => {
  expect(parseTraceParent(header)).toBeNull()
})
