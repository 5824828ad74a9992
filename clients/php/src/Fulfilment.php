<?php

declare(strict_types=1);

namespace Paymesh;

/** The one pattern of fulfilment: (order, invoice) decides; see clients/README.md. */
final class Fulfilment
{
    /** @param string $toReturn The money of this invoice to return, in base units of its asset. */
    private function __construct(
        public readonly string $action,
        public readonly string $order,
        public readonly string $toReturn,
    ) {
    }

    /**
     * Decides about the current invoice of an order: open, released, shipped (because of this invoice), settled (in another way) or
     * cancelled. Call it in the transaction that stores the result, with the order's row locked; repeating it changes nothing.
     */
    public static function decide(string $order, Invoice $invoice): self
    {
        $row = FulfilmentTable::ROWS["$order {$invoice->status}"] ?? null;
        if ($row === null) {
            if (!isset(FulfilmentTable::ROWS["$order new"])) {
                throw new \InvalidArgumentException("an order is never $order");
            }
            // A status of a later server: nothing is decided by what nobody understands.
            return new self('none', $order, '0');
        }
        return new self($row[0], $row[1], self::toReturn($row[2], $invoice));
    }

    private static function toReturn(string $returns, Invoice $invoice): string
    {
        $confirmed = $invoice->received->confirmed_base_units;
        if ($returns === 'all') {
            return $confirmed;
        }
        if ($returns === 'nothing' || $invoice->status !== 'overpaid' || $invoice->crypto === null) {
            return '0';
        }
        return self::subtract($confirmed, $invoice->crypto->amount_base_units);
    }

    /** The difference of two whole numbers that may be larger than PHP's integers; 0 when it would be negative. */
    private static function subtract(string $from, string $amount): string
    {
        $length = max(strlen($from), strlen($amount));
        [$from, $amount] = [str_pad($from, $length, '0', STR_PAD_LEFT), str_pad($amount, $length, '0', STR_PAD_LEFT)];
        if (strcmp($from, $amount) <= 0) {
            return '0';
        }
        $digits = '';
        $borrow = 0;
        for ($at = $length - 1; $at >= 0; $at--) {
            $digit = (int) $from[$at] - (int) $amount[$at] - $borrow;
            $borrow = $digit < 0 ? 1 : 0;
            $digits = ($digit + 10 * $borrow) . $digits;
        }
        return ltrim($digits, '0');
    }
}
