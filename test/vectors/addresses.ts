/**
 * Known addresses of the BIP 39 phrase that the BIPs themselves use for their examples. `source` names where the
 * expected value was published; the scripts follow from the addresses.
 */
export const ADDRESS_VECTORS = {
  phrase: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
  rows: [
    {
      source: "BIP 84, test vectors, m/84'/0'/0'/0/0",
      family: 'bitcoin',
      mode: 'live',
      xpub: 'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V',
      index: 0,
      address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
      matchKey: '0014c0cebcd6c3d3ca8c75dc5ec62ebe55330ef910e2',
    },
    {
      source: "BIP 84, test vectors, m/84'/0'/0'/0/1",
      family: 'bitcoin',
      mode: 'live',
      xpub: 'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V',
      index: 1,
      address: 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
      matchKey: '00149c90f934ea51fa0f6504177043e0908da6929983',
    },
    {
      source: "the first address that Ledger, Trezor and Electrum-LTC show, m/84'/2'/0'/0/0",
      family: 'litecoin',
      mode: 'live',
      xpub: 'xpub6CjGURuDpczf6uNrCCwfhVizn5J3hsWcvZ2m6GAdmAjZnoWJPrx6TFPjGSftc2o5fvox6ubQjSXmjjaHZjwYMH7SGFpHHb9Jg24zBf66mbE',
      index: 0,
      address: 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh',
      matchKey: '001496cd3178f3de0f307bcee1aeaa4d5987862dd30a',
    },
    {
      source: "the first address that wallets of m/44'/3'/0' show",
      family: 'dogecoin',
      mode: 'live',
      xpub: 'xpub6Bxse8AT19u9HExKtP1EAudLi9CpLxPpxDvanL2fFtM7UFE2Q7TTWRg4bnMnmT4KcyN6GQkSgZmPWDtyUywSii3MDpMNfXSTuzH7gvZywLU',
      index: 0,
      address: 'DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC',
      matchKey: '76a9144a483568665dcdfa68dd58a1f62893448a64333988ac',
    },
    {
      source: "the first address that wallets of m/44'/60'/0' show",
      family: 'evm',
      mode: 'live',
      xpub: 'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt',
      index: 0,
      address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
      matchKey: '9858effd232b4033e47d90003d41ec34ecaeda94',
    },
    {
      source: "the first address that wallets of m/44'/195'/0' show",
      family: 'tron',
      mode: 'live',
      xpub: 'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd',
      index: 0,
      address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
      matchKey: 'c8599111f29c1e1e061265b4af93ea1f274ad78a',
    },
  ],
} as const
