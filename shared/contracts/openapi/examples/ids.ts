/** Identifiers and times shared by all examples, so that they are consistent. */
export const EXAMPLE = {
  invoiceId: '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e3f',
  paymentId: '01920a60-91d4-7b52-8c0a-2f4e6d8b0a1c',
  linkId: '01920a4f-0b6e-7a91-b3d5-7c9e1f2a4b6d',
  productId: '01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a',
  endpointId: '01920a4b-52aa-7f03-8e9d-5a7c9b1d3f5e',
  requestId: 'req_01920a5e4c7b7d3a9f216b8f0c1d2e40',
  cursor: 'AaBx6k0Q7p2mT9vYc3ZfWg',
  createdAt: '2026-10-01T12:00:00.000Z',
  expiresAt: '2026-10-01T13:00:00.000Z',
  paidAt: '2026-10-01T12:04:31.000Z',
} as const
