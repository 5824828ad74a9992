import { quoteNumbers } from '#shared/contracts/rates/lossless-json.ts'
import type { FaultKind } from './faults.ts'

const QUOTED_NUMBER = /"(-?\d+(?:\.\d+)?)"(?!\s*:)/g

/** A body after a fault that changes the format of a good response. */
export function bendBody(body: string, kind: FaultKind | undefined): string {
  if (kind === 'truncated') return body.slice(0, body.length / 2)
  if (kind === 'other_types') return otherTypes(body)
  return kind === 'new_fields' ? JSON.stringify(withNewFields(JSON.parse(body))) : body
}

/** Numbers written as text become bare numbers, and the reverse. */
function otherTypes(body: string): string {
  const bare = body.replace(QUOTED_NUMBER, '$1')
  if (bare !== body) return bare
  return quoteNumbers(body)
}

function withNewFields(value: unknown): unknown {
  if (Array.isArray(value)) return isTuple(value) ? value : value.map(withNewFields).reverse()
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, withNewFields(item)] as const)
  return Object.fromEntries([...entries.reverse(), ['brand_new_field', { nested: [1, 'two', null] }]])
}

/** A list whose positions have a meaning, such as `[price, volume]`. */
function isTuple(list: readonly unknown[]): boolean {
  return list.every((item) => typeof item !== 'object' || item === null)
}
