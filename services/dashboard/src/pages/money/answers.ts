import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#services/admin/app-router.ts'

type Outputs = inferRouterOutputs<AppRouter>
type Inputs = inferRouterInputs<AppRouter>
type NotFilters = 'order' | 'workspaceId' | 'mode' | 'cursor' | 'limit'

/** Filters of the lists of money without the position: the same for the page, its counts and its export. */
export type InvoiceFilters = Required<Omit<Inputs['invoices']['list'], NotFilters>>
export type PaymentFilters = Required<Omit<Inputs['payments']['list'], NotFilters>>

/** Filters of the file of all movements; `profile` names the program that it is for. */
export type LedgerFilters = SettlementFilters & { readonly profile: string | null }

export type SettlementFilters = Required<Omit<Inputs['settlements']['list'], NotFilters>>

/** Results for the pages about money. */
export type InvoiceRow = Outputs['invoices']['list']['items'][number]
export type InvoiceDetail = Outputs['invoices']['get']
export type InvoicePayment = InvoiceDetail['payments'][number]
export type Refund = InvoiceDetail['refunds'][number]
export type RefundableCoin = InvoiceDetail['refundable'][number]
export type OpenRefund = Inputs['invoices']['openRefund']
export type TimelineEntry = Outputs['invoices']['timeline'][number]
export type PaymentRow = Outputs['payments']['list']['items'][number]
export type Customer = Outputs['customers']['get']
export type SettlementRow = Outputs['settlements']['list']['items'][number]
export type AttachPlan = Outputs['payments']['previewAttach']
export type ExceptionRow = Outputs['exceptions']['list']['items'][number]
export type ExceptionDetail = Outputs['exceptions']['get']
export type BulkPreview = Outputs['exceptions']['previewMany']
export type Answer = Outputs['diagnostics']['explain']
export type LinkRow = Outputs['paymentLinks']['list']['items'][number]
export type ProductRow = Outputs['products']['list']['items'][number]
