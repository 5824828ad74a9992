<?php

// Generated from clients/conformance/fulfilment.json by `npm run gen:client`. Do not edit.

declare(strict_types=1);

namespace Paymesh;

/** Order and status of the invoice: action, next state of the order, money to return. */
final class FulfilmentTable
{
    public const ROWS = [
        'open new' => ['none', 'open', 'nothing'],
        'open pending' => ['none', 'open', 'nothing'],
        'open partial' => ['show', 'open', 'nothing'],
        'open confirming' => ['show', 'open', 'nothing'],
        'open paid' => ['ship', 'shipped', 'excess'],
        'open overpaid' => ['ship', 'shipped', 'excess'],
        'open expired' => ['release', 'released', 'all'],
        'open cancelled' => ['release', 'released', 'all'],
        'released new' => ['none', 'released', 'nothing'],
        'released pending' => ['none', 'released', 'nothing'],
        'released partial' => ['show', 'released', 'nothing'],
        'released confirming' => ['show', 'released', 'nothing'],
        'released paid' => ['reserve_and_ship', 'shipped', 'excess'],
        'released overpaid' => ['reserve_and_ship', 'shipped', 'excess'],
        'released expired' => ['none', 'released', 'all'],
        'released cancelled' => ['none', 'released', 'all'],
        'shipped new' => ['none', 'shipped', 'excess'],
        'shipped pending' => ['none', 'shipped', 'excess'],
        'shipped partial' => ['none', 'shipped', 'excess'],
        'shipped confirming' => ['none', 'shipped', 'excess'],
        'shipped paid' => ['none', 'shipped', 'excess'],
        'shipped overpaid' => ['none', 'shipped', 'excess'],
        'shipped expired' => ['none', 'shipped', 'excess'],
        'shipped cancelled' => ['none', 'shipped', 'excess'],
        'settled new' => ['cancel_invoice', 'settled', 'all'],
        'settled pending' => ['cancel_invoice', 'settled', 'all'],
        'settled partial' => ['none', 'settled', 'all'],
        'settled confirming' => ['none', 'settled', 'all'],
        'settled paid' => ['none', 'settled', 'all'],
        'settled overpaid' => ['none', 'settled', 'all'],
        'settled expired' => ['none', 'settled', 'all'],
        'settled cancelled' => ['none', 'settled', 'all'],
        'cancelled new' => ['cancel_invoice', 'cancelled', 'all'],
        'cancelled pending' => ['cancel_invoice', 'cancelled', 'all'],
        'cancelled partial' => ['none', 'cancelled', 'all'],
        'cancelled confirming' => ['none', 'cancelled', 'all'],
        'cancelled paid' => ['none', 'cancelled', 'all'],
        'cancelled overpaid' => ['none', 'cancelled', 'all'],
        'cancelled expired' => ['none', 'cancelled', 'all'],
        'cancelled cancelled' => ['none', 'cancelled', 'all'],
    ];
}
