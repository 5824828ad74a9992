import { LanguageCode, PaymentMethodHandler } from '@vendure/core'

/** Code of the handler; a payment method of the channel must use it. */
export const HANDLER_CODE = 'paymesh'

/**
 * Payments exist only for paid invoices: `PaymeshOrders` adds them with a context of the admin API, which no shopper has; whatever a shopper
 * adds is declined. A refund stays pending until somebody settles it, because money comes back only when the customer has named an address.
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
  createRefund: (_ctx, _input, _amount, _order, payment) => ({
    ...{ state: 'Pending', transactionId: payment.transactionId },
    metadata: { askForAnAddress: payment.metadata['url'] },
  }),
})
