import { DELIVERY_QUESTIONS } from './questions/delivery-questions.ts'
import { INVOICE_QUESTIONS } from './questions/invoice-questions.ts'
import { MAINTENANCE_QUESTIONS } from './questions/maintenance-questions.ts'
import { PAYMENT_QUESTIONS } from './questions/payment-questions.ts'
import { RECORD_QUESTIONS } from './questions/record-questions.ts'
import { WORKSPACE_QUESTIONS } from './questions/workspace-questions.ts'

/** Every question that the product asks its store, by name. */
export const QUESTIONS = [
  ...INVOICE_QUESTIONS,
  ...PAYMENT_QUESTIONS,
  ...DELIVERY_QUESTIONS,
  ...RECORD_QUESTIONS,
  ...WORKSPACE_QUESTIONS,
  ...MAINTENANCE_QUESTIONS,
]
