import { LanguageCode, PaymentMethodHandler } from '@vendure/core'

/** Code of the handler; a payment method of the channel must use it. */
export const HANDLER_CODE = 'paymesh'

/**
 * Payments exist only for paid invoices: `PaymeshOrders` adds them with a context of the admin API, which no shopper has; whatever a shopper
 * adds is declined. Without `createRefund` a refund stays pending until somebody settles it: money goes back only when the customer has named
 * an address. (Vendure 3.7.3 answers a `createRefund` that returns `Pending` with an error.)
 */
export const paymentHandler = new PaymentMethodHandler({
  code: HANDLER_CODE,
  description: [{ languageCode: LanguageCode.en, value: 'Crypto (Paymesh)' }],
  args: {},
  createPayment: (ctx, _order, amount, _args, metadata) =>
    ctx.apiType === 'admin'
      ? { amount: metadata['amount'], state: 'Settled', transactionId: metadata['invoice'], metadata }
      : { amount, state: 'Declined', errorMessage: 'Pay the invoice of createPaymeshInvoice.' },
  settlePayment: () => ({ success: false, errorMessage: 'Only its paid invoice settles a payment.' }),
  cancelPayment: () => ({
    ...{ success: false, state: 'Settled' },
    errorMessage: 'A payment on a chain cannot be cancelled: refund it.',
  }),
})
