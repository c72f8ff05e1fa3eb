"""Goals of real work, and how far the figures are from them."""
import math

ABOVE_FLOOR, TOTAL, MEAN = 0.6, 1.0, 0.75  # at most: of a row above the floor, of a row, of the mean of all rows
EXACT = 0.02  # smaller differences between two figures mean nothing


def best_peer(figures, labels):
    return min((figures[label] for label in labels[1:] if figures.get(label) is not None), default=None)


def ratio(figures, labels):
    """The first server's figure over the best of the others', or None."""
    ours, best = figures.get(labels[0]), best_peer(figures, labels)
    return ours / best if ours is not None and best else None


def above_floor(figures, labels):
    """The same of what lies above the floor, where both figures lie above it by more than chance."""
    ours, best, floor = figures.get(labels[0]), best_peer(figures, labels), figures.get("floor")
    if None in (ours, best, floor) or min(ours, best) < floor * (1 + EXACT):
        return None
    return (ours - floor) / (best - floor)


def verdict(figures, labels):
    """Of one row, as text."""
    total, above = ratio(figures, labels), above_floor(figures, labels)
    if total is None:
        return "–"
    missed = ["in total"] * (total > TOTAL) + ["above the floor"] * (above is not None and above > ABOVE_FLOOR)
    if not missed:
        return "met"
    forbidden = (figures.get("floor") or 0) >= TOTAL * best_peer(figures, labels)
    return "the floor forbids it" if forbidden else "missed " + " and ".join(missed)


def mean(ratios):
    """The geometric mean, or None of nothing."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def counted(ratios, most):
    return f"{sum(found <= most for found in ratios)} of {len(ratios)} rows"


def summary(rows, labels):
    """Lines of markdown on all rows together."""
    totals = [found for figures in rows if (found := ratio(figures, labels)) is not None]
    above = [found for figures in rows if (found := above_floor(figures, labels)) is not None]
    if not totals:
        return
    with_floor = [figures for figures in rows if figures.get("floor") and ratio(figures, labels) is not None]
    of_rows = mean([ratio(figures, labels) for figures in with_floor])
    floors = [figures["floor"] / best_peer(figures, labels) for figures in with_floor]
    yield "Goals:\n"
    yield f"- above the floor, each row at most {ABOVE_FLOOR:.2f}: {counted(above, ABOVE_FLOOR)}"
    yield f"- in total, each row at most {TOTAL:.2f}: {counted(totals, TOTAL)}"
    line = f"- the geometric mean of all totals, at most {MEAN:.2f}: {mean(totals):.2f}"
    if with_floor:
        at_goal = mean([floor + ABOVE_FLOOR * max(0, 1 - floor) for floor in floors])
        line += (f"; that of the rows with a floor {of_rows:.2f}. It would be {at_goal:.2f} if each of these were at "
                 f"{ABOVE_FLOOR:.2f} above the floor, and {mean(floors):.2f} at the floor itself"
                 + (", which forbids this goal" if mean(floors) > MEAN else ""))
    yield line + "\n"
