import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What to do about an invoice, what the order is afterwards, and how much of the money goes back. */
export type Cell = readonly [action: string, next: string, returns: string]

/** The one pattern by which shops fulfil orders: (order × invoice) → action, next state and money to return. */
export interface Fulfilment {
  /** States of an order, with their meaning. */
  readonly orders: Readonly<Record<string, string>>
  /** Conditions of an invoice, with the statuses that they stand for. */
  readonly invoices: Readonly<Record<string, readonly string[]>>
  readonly actions: Readonly<Record<string, string>>
  readonly returns: Readonly<Record<string, string>>
  readonly rows: Readonly<Record<string, Readonly<Record<string, Cell>>>>
}

/** The table in data, from which documents and clients are made. */
export const FULFILMENT: Fulfilment = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../clients/conformance/fulfilment.json'), 'utf8'),
)

/** Every cell by order and status of the invoice. */
export function cells(): readonly { readonly order: string; readonly status: string; readonly cell: Cell }[] {
  return Object.entries(FULFILMENT.rows).flatMap(([order, row]) =>
    Object.entries(FULFILMENT.invoices).flatMap(([condition, statuses]) =>
      statuses.map((status) => ({ order, status, cell: row[condition] ?? (['none', order, 'nothing'] as const) })),
    ),
  )
}

/** The table for people, as Markdown. */
export function fulfilmentMarkdown(): string {
  const { orders, invoices, actions, returns, rows } = FULFILMENT
  const conditions = Object.entries(invoices)
  const head = `| your order is | ${conditions.map(([, names]) => names.map((name) => `\`${name}\``).join(', ')).join(' | ')} |`
  const lines = Object.entries(orders).map(([order, meaning]) => {
    const told = conditions.map(([condition]) => {
      const [action = '', next = '', back = ''] = rows[order]?.[condition] ?? []
      const becomes = next === order ? '' : `; the order is now \`${next}\``
      const owed = back === 'nothing' ? '' : `; to return: ${returns[back]}`
      return `${actions[action]}${becomes}${owed}`
    })
    return `| \`${order}\`: ${meaning} | ${told.join(' | ')} |`
  })
  return [head, `|${'---|'.repeat(conditions.length + 1)}`, ...lines].join('\n')
}
