import { expect, it } from 'vitest'
import { readPasted } from './pasted-text.ts'

const HEX = 'ab'.repeat(32)
const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'

// Guarantee: whatever explorer's address a person pastes, the transaction or address in it is what is looked up.
it.each([
  [`https://etherscan.io/tx/0x${HEX}`, `0x${HEX}`],
  [`https://etherscan.io/tx/0x${HEX}#eventlog`, `0x${HEX}`],
  [`https://tronscan.org/#/transaction/${HEX}`, HEX],
  [`https://mempool.space/testnet/tx/${HEX}?showDetails=true`, HEX],
  [`https://solscan.io/tx/${SIGNATURE}?cluster=devnet`, SIGNATURE],
  [`https://polygonscan.com/address/0x${'aB'.repeat(20)}`, `0x${'aB'.repeat(20)}`],
  ['https://tronscan.org/#/address/TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3', 'TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3'],
  [
    'https://mempool.space/address/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  ],
  ['https://pay.shop.example/i/01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40', '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'],
  [` 0x${HEX} `, `0x${HEX}`],
  // As browsers show and people quote them.
  [`etherscan.io/tx/0x${HEX}`, `0x${HEX}`],
  [`www.blockchair.com/dogecoin/transaction/${HEX.toUpperCase()}?_search=1`, HEX.toUpperCase()],
  [`explorer.solana.com:443/tx/${SIGNATURE}?cluster=devnet`, SIGNATURE],
  [`<https://basescan.org/tx/0x${HEX}>,`, `0x${HEX}`],
  [`(https://arbiscan.io/tx/0x${HEX}).`, `0x${HEX}`],
  [`"HTTPS://BSCSCAN.COM/TX/0X${HEX}"`, `0X${HEX}`],
  [`https://www.oklink.com/tron/tx/${HEX};jsessionid=1`, HEX],
  // As mails break and phones type them.
  [`0x${HEX.slice(0, 30)}\r\n ${HEX.slice(30)}`, `0x${HEX}`],
  [`${SIGNATURE.slice(0, 40)} ${SIGNATURE.slice(40)}`, SIGNATURE],
  ['01920a5e-4c7b- 7d3a-9f21-6b8f0c1d2e40', '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'],
  ['＃１２３', '#123'],
  ['４８．００\u3000ｕｓｄ', '48.00 usd'],
  ['https://shop.example/orders/12', 'https://shop.example/orders/12'],
  ['ORDER/12', 'ORDER/12'],
  // References and names of merchants stay as they are, whatever they look like.
  ['注文１２３', '注文１２３'],
  ['v1.2/ab', 'v1.2/ab'],
  [`order-${HEX}`, `order-${HEX}`],
  [`${HEX}/${HEX}`, `${HEX}/${HEX}`],
  ['Ana Reyes Dominguez Fernandez Castro', 'Ana Reyes Dominguez Fernandez Castro'],
  ['https://etherscan.io', 'https://etherscan.io'],
  ['TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3.example/tx/', 'TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3.example/tx/'],
])('%s means %s', (text, meant) => expect(readPasted(text)).toBe(meant))
