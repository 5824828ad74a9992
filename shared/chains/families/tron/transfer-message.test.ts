import { describe, expect, it } from 'vitest'
import { signedTransfer, type TronTransfer, unsignedTransfer } from './transfer-message.ts'

const REFERENCE = {
  ref_block_bytes: '5e4b',
  ref_block_hash: '47c9dc89341b300d',
  expiration: 1_591_089_627_000,
  timestamp: 1_591_089_567_635,
}
const COINS: TronTransfer = {
  from: '608f8da72479edc7dd921e4c30bb7e7cddbe722e',
  to: 'e9d79cc47518930bc322d9bf7cddd260a0260a8d',
  contract: null,
  amountBase: 1_000n,
  reference: REFERENCE,
}
const TOKENS: TronTransfer = {
  ...COINS,
  contract: 'a614f803b6fd780986a42c78ec9c7f77e6ded13c',
  amountBase: 148_586_992n,
}

describe('a transfer that a TRON wallet signs', () => {
  // Guards money: a field in the wrong place would send another amount, or to somebody else. The first bytes are the example of the HTTP
  // API's manual (wallet/broadcasttransaction), the second and both ids what TronWeb 6.5.1 makes of the JSON.
  it.each([
    [
      'TRX',
      COINS,
      '0a025e4b220847c9dc89341b300d40f8fed3a2a72e5a66080112620a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412310a1541608f8da72479edc7dd921e4c30bb7e7cddbe722e121541e9d79cc47518930bc322d9bf7cddd260a0260a8d18e8077093afd0a2a72e',
      '77ddfa7093cc5f745c0d3a54abb89ef070f983343c05e0f89e5a52f3e5401299',
    ],
    [
      'a token',
      TOKENS,
      '0a025e4b220847c9dc89341b300d40f8fed3a2a72e5aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541608f8da72479edc7dd921e4c30bb7e7cddbe722e121541a614f803b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb000000000000000000000000e9d79cc47518930bc322d9bf7cddd260a0260a8d0000000000000000000000000000000000000000000000000000000008db41f07093afd0a2a72e900180c2d72f',
      '83036665b3d07604b8556eb49603e5f2b2319684030c99b86a64a3016a309115',
    ],
  ])('has the bytes that TronWeb makes: %s', (_what, transfer, hex, id) => {
    expect(unsignedTransfer(transfer)).toMatchObject({ raw_data_hex: hex, txID: id, visible: false })
  })

  it('says the same in JSON, which wallets show', () => {
    expect(unsignedTransfer(COINS).raw_data).toEqual({
      contract: [
        {
          type: 'TransferContract',
          parameter: {
            type_url: 'type.googleapis.com/protocol.TransferContract',
            value: { amount: 1_000, owner_address: `41${COINS.from}`, to_address: `41${COINS.to}` },
          },
        },
      ],
      ...REFERENCE,
    })
    expect(unsignedTransfer(TOKENS).raw_data).toMatchObject({
      fee_limit: 100_000_000,
      contract: [
        {
          type: 'TriggerSmartContract',
          parameter: {
            value: {
              contract_address: `41${TOKENS.contract}`,
              data: `a9059cbb${COINS.to.padStart(64, '0')}${'8db41f0'.padStart(64, '0')}`,
            },
          },
        },
      ],
    })
  })

  it('carries one signature behind its bytes', () => {
    const unsigned = unsignedTransfer(COINS)
    const hex = signedTransfer(unsigned, new Uint8Array(65).fill(7))
    expect(hex).toBe(`0a8401${unsigned.raw_data_hex}1241${'07'.repeat(65)}`)
  })

  it('is refused for an amount that JSON would round', () => {
    expect(() => unsignedTransfer({ ...COINS, amountBase: 2n ** 53n })).toThrow(RangeError)
    expect(unsignedTransfer({ ...TOKENS, amountBase: 2n ** 200n }).raw_data_hex).toContain((2n ** 200n).toString(16))
  })
})
