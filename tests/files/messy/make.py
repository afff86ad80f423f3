"""Write a collection of messy table files, as people really have them.

    python make.py FOLDER                  writes the files
    python make.py FOLDER expected.json    writes also what should come out

Standard library only; the same bytes each time.
"""
import datetime
import gzip
import json
import os
import random
import sys

CASES = []  # (file name, bytes, expectation)


# ---------------------------------------------------------------- describing

def num(name, values):      return (name, "num", list(values))
def ident(name, values):    return (name, "id", list(values))       # a number, no measurement
def unclear(name, values):  return (name, "unclear", list(values))  # a number; either view is fine
def yesno(name, values):    return (name, "bool", list(values))     # 1, 0, None
def text(name):             return (name, "text", None)
def date(name):             return (name, "date", None)
def empty(name):            return (name, "empty", None)


def add(file, trouble, content, rows, columns, encoding="utf-8", options=None):
    """content: str (encoded here) or bytes. columns: in the order of the file."""
    data = content if isinstance(content, bytes) else content.encode(encoding)
    kind = lambda *kinds: [c[0] for c in columns if c[1] in kinds]
    numbers = {c[0]: c[2] for c in columns if c[2] is not None}
    for name, values in numbers.items():
        assert len(values) == rows, (file, name, len(values), rows)
    assert len({c[0] for c in columns}) == len(columns), file
    assert file not in [c[0] for c in CASES], file
    CASES.append((file, data, {
        "trouble": trouble, "rows": rows, "columns": [c[0] for c in columns],
        "numbers": numbers, "not_measurements": kind("id"), "unclear": kind("unclear"),
        "text": kind("text", "date"), "booleans": kind("bool"), "dates": kind("date"),
        "empty": kind("empty"), "options": options or {}}))


# ---------------------------------------------------------------- making data

def series(seed, n, middle, spread, digits=1):
    """n plausible measurements, rounded to what is written."""
    rng = random.Random(seed)
    out = [middle + spread * (rng.random() + rng.random() + rng.random() - 1.5) for _ in range(n)]
    return [int(round(v)) for v in out] if digits == 0 else [round(v, digits) for v in out]


def pick(seed, n, choices):
    rng = random.Random(seed)
    return [choices[int(rng.random() * len(choices))] for _ in range(n)]


def holes(values, *where):
    return [None if i in where else v for i, v in enumerate(values)]


def days(n, first=(2023, 1, 1)):
    start = datetime.date(*first)
    return [start + datetime.timedelta(days=i) for i in range(n)]


def minutes(n, step, first=(2023, 3, 1, 0, 0)):
    start = datetime.datetime(*first)
    return [start + datetime.timedelta(minutes=i * step) for i in range(n)]


# ---------------------------------------------------------------- writing numbers

def point(v, d=1, missing=""):
    return missing if v is None else f"{v:.{d}f}"


def comma(v, d=1, missing=""):
    """3.5 -> 3,5"""
    return missing if v is None else f"{v:.{d}f}".replace(".", ",")


def german(v, d=2, missing=""):
    """3078.5 -> 3.078,50"""
    return missing if v is None else f"{v:,.{d}f}".replace(",", "_").replace(".", ",").replace("_", ".")


def grouped(v, d, mark, decimal="."):
    """1234.5 -> 1'234.50 for mark ', and so on"""
    return f"{v:,.{d}f}".replace(",", "_").replace(".", decimal).replace("_", mark)


def table(rows, sep=",", end="\n"):
    return "".join(sep.join(str(c) for c in row) + end for row in rows)


CITIES = ["Oslo", "Bergen", "Turin", "Lyon", "Porto", "Graz", "Ghent", "Leeds", "Cork", "Malmo",
          "Gdansk", "Brno", "Basel", "Split", "Varna", "Cadiz", "Tartu", "Riga", "Bonn", "Delft"]
NAMES = ["Anna", "Ben", "Chris", "Dora", "Emil", "Fay", "Gus", "Hal", "Ida", "Jon",
         "Kim", "Leo", "Mia", "Ned", "Ola", "Pia", "Quin", "Ria", "Sam", "Tom"]


# ================================================================ title lines

def titles():
    rain = [81.2, 45.0, 60.4, 12.9, 33.3, 71.8, 90.1, 55.5, 48.7, 102.6, 88.0, 79.4]
    wet = [14, 9, 11, 4, 7, 12, 15, 10, 9, 17, 15, 14]
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    body = "month,rain_mm,wet_days\n" + table(zip(months, rain, wet))
    cols = [text("month"), num("rain_mm", rain), num("wet_days", wet)]
    add("title_one_line.csv", "one title line before the header",
        "Rainfall at the school weather station\n" + body, 12, cols)
    add("title_several_blank.csv", "three title lines with blank lines between and after",
        "Rainfall report\n\nStation: School yard\nObserver: 7th grade\n\n\n" + body, 12, cols)
    add("title_blank_first.csv", "three blank lines before the header",
        "\n\n\n" + body, 12, cols)
    add("title_quoted.csv", "title line in quotes, with commas and doubled quotes inside",
        '"Rainfall, ""School yard"", in millimetres, 2022"\n\n' + body, 12, cols)

    plots = [f"P{i:02d}" for i in range(1, 25)]
    site = ["north", "south"] * 12
    yld, moist, area = series(1, 24, 6.4, 1.2, 2), series(2, 24, 14.0, 2.0, 1), series(3, 24, 120, 15, 0)
    add("title_with_commas.csv", "title line with commas inside (fewer pieces than the table has columns)",
        "Harvest 2022, plots 1 to 24, both sites\nplot,site,yield_t_ha,moisture,area_m2\n"
        + table(zip(plots, site, yld, moist, area)), 24,
        [text("plot"), text("site"), num("yield_t_ha", yld), num("moisture", moist), num("area_m2", area)])
    add("title_padded_excel.csv", "title lines padded with semicolons to the table's width, as Excel saves them",
        "Harvest report 2022;;;;\nPrepared for the annual meeting;;;;\n;;;;\nplot;site;yield_t_ha;moisture;area_m2\n"
        + table(zip(plots, site, [comma(v, 2) for v in yld], [comma(v) for v in moist], area), ";"), 24,
        [text("plot"), text("site"), num("yield_t_ha", yld), num("moisture", moist), num("area_m2", area)])

    n = 30
    stamp, t, h = minutes(n, 10), series(4, n, 21, 2, 1), series(5, n, 48, 8, 1)
    p = series(6, n, 1013, 3, 2)
    add("title_key_value.csv", "device settings as name,value lines before a wider table",
        "Device:,TX-200\nSerial number:,004512\nInterval:,10 min\nCalibrated:,2022-11-30\n\n"
        "time,temperature,humidity,pressure\n"
        + table(zip([s.strftime("%Y-%m-%d %H:%M") for s in stamp], t, h, [point(v, 2) for v in p])), n,
        [date("time"), num("temperature", t), num("humidity", h), num("pressure", p)])

    n = 18
    glu, hb, prot, ph = series(7, n, 5.2, .8, 1), series(8, n, 14, 1.5, 1), series(9, n, 80, 30, 0), series(10, n, 6.2, .5, 2)
    add("title_group_header.csv", "merged cells above the header: group names in a line of their own; names are in the second line",
        ",,Blood,,Urine,\nvisit,sex,glucose,hemoglobin,protein,ph\n"
        + table(zip([f"V-{i + 1}" for i in range(n)], pick(11, n, "mf"), glu, hb, prot, ph)), n,
        [text("visit"), text("sex"), num("glucose", glu), num("hemoglobin", hb), num("protein", prot), num("ph", ph)])

    n = 40
    weeks = days(n * 7, (2022, 1, 2))[::7]
    a, b = series(12, n, 60, 30, 0), holes(series(13, n, 8, 6, 0), 17)
    b = [None if v is None else max(v, 1) for v in b]
    add("title_search_trends.csv", "category line, blank line, then the table; one count is written <1 (missing)",
        "Category: All categories\n\nWeek,hiking boots: (Worldwide),snow shoes: (Worldwide)\n"
        + table(zip(weeks, a, ["<1" if v is None else v for v in b])), n,
        [date("Week"), num("hiking boots: (Worldwide)", a), num("snow shoes: (Worldwide)", b)])


# ================================================================ footers

def footers():
    years = list(range(2004, 2024))
    births, deaths = series(20, 20, 9.4, .8, 1), series(21, 20, 10.8, .9, 1)
    cols = [num("year", years), num("births", births), num("deaths", deaths)]
    body = "year,births,deaths\n" + table(zip(years, births, deaths))
    add("footer_source.csv", "blank line, source and note after the data; year is a number",
        body + "\nSource: National Statistics Office, release of March 2024\n* preliminary\n", 20, cols)
    add("footer_no_blank.csv", "source line directly after the last row",
        body + "Source: National Statistics Office\n", 20, cols)
    add("footer_notes.csv", "several numbered notes after the data, one in quotes with commas",
        body + '\nNotes:\n1) per 1000 inhabitants\n"2) revised in 2021, see the method report, page 4"\n', 20, cols)
    stars = [point(v) + ("*" if i >= 18 else "") for i, v in enumerate(births)]
    add("footer_star_flags.csv", "the last two values carry a star (104.2*: the value counts), explained in a footer",
        "year,births,deaths\n" + table(zip(years, stars, deaths)) + "\n* preliminary\n", 20, cols)

    days_ = [f"31.12.{y}" for y in years]
    total = series(22, 20, 82_500_000, 400_000, 0)
    men = [t // 2 - 500_000 - 1371 * i for i, t in enumerate(total)]
    foreign = holes(series(23, 20, 7_500_000, 900_000, 0), 0, 1, 7)
    add("footer_statistics_office.csv",
        "Latin-1, title lines, semicolons, '-' and '.' for missing, a rule and copyright lines after the data",
        "Tabelle: 12411-0001\nBevölkerung: Deutschland, Stichtag\nFortschreibung des Bevölkerungsstandes\n"
        "Stichtag;Bevölkerung;Männlich;Ausländer\n"
        + table(zip(days_, total, men, [f if f is not None else "-" if i < 5 else "." for i, f in enumerate(foreign)]), ";")
        + "__________\nErgebnisse auf Grundlage früherer Zählungen.\n__________\n"
        "© Statistisches Bundesamt, 2024 | Stand: 05.03.2024 / 14:21:07\n", 20,
        [date("Stichtag"), num("Bevölkerung", total), num("Männlich", men), num("Ausländer", foreign)], "latin-1")


# ================================================================ trailing delimiters, header lengths

def line_lengths():
    n = 25
    stamp = minutes(n, 1, (2023, 7, 4, 8, 0))
    t, v, i = series(30, n, 42, 3, 1), series(31, n, 230, 4, 1), series(32, n, 1.6, .3, 2)
    rows = list(zip([s.strftime("%Y-%m-%d %H:%M:%S") for s in stamp], t, v, [point(x, 2) for x in i]))
    cols = [date("time"), num("temp", t), num("volt", v), num("amp", i)]
    add("trailing_both.csv", "a comma at the end of the header and of each line",
        "time,temp,volt,amp,\n" + table(rows, end=",\n"), n, cols)
    add("trailing_data_only.csv", "sensor log: a comma at the end of each line, not of the header",
        "time,temp,volt,amp\n" + table(rows, end=",\n"), n, cols)
    add("trailing_header_only.csv", "a comma at the end of the header only",
        "time,temp,volt,amp,\n" + table(rows), n, cols)
    add("trailing_many_semicolons.csv", "four empty columns at the right of header and lines, as Excel leaves them",
        "time;temp;volt;amp;;;;\n" + table(rows, ";", ";;;;\n"), n, cols)
    add("trailing_tabs.tsv", "a tab at the end of each line, not of the header",
        "temp\tvolt\tamp\n" + table([r[1:] for r in rows], "\t", "\t\n"), n, cols[1:])

    add("header_shorter_row_names.txt", "R write.table: row names in quotes, the header is one shorter, blanks between",
        '"mpg" "cyl" "disp" "hp" "wt"\n"Mazda RX4" 21 6 160 110 2.62\n"Mazda RX4 Wag" 21 6 160 110 2.875\n'
        '"Datsun 710" 22.8 4 108 93 2.32\n"Hornet 4 Drive" 21.4 6 258 110 3.215\n"Hornet Sportabout" 18.7 8 360 175 3.44\n'
        '"Valiant" 18.1 6 225 105 3.46\n"Duster 360" 14.3 8 360 245 3.57\n"Merc 240D" 24.4 4 146.7 62 3.19\n', 8,
        [text("#1"), num("mpg", [21, 21, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4]), num("cyl", [6, 6, 4, 6, 8, 6, 8, 4]),
         num("disp", [160, 160, 108, 258, 360, 225, 360, 146.7]), num("hp", [110, 110, 93, 110, 175, 105, 245, 62]),
         num("wt", [2.62, 2.875, 2.32, 3.215, 3.44, 3.46, 3.57, 3.19])])
    n = 30
    x, y, g = series(33, n, 5, 2, 2), series(34, n, 100, 20, 0), pick(35, n, ["a", "b", "c"])
    add("header_shorter_row_numbers.csv", "R write.table with commas: quoted row numbers, the header is one shorter; NA for missing",
        '"x","y","group"\n' + table((f'"{k + 1}"', "NA" if k == 11 else point(x[k], 2), y[k], f'"{g[k]}"') for k in range(n)), n,
        [ident("#1", range(1, n + 1)), num("x", holes(x, 11)), num("y", y), text("group")])
    add("header_longer.csv", "the header names one column more (remarks) than the lines have",
        "sample,mass,length,remarks\n" + table((f"s{k}", y[k], point(x[k], 2)) for k in range(n)), n,
        [text("sample"), num("mass", y), num("length", x), empty("remarks")])
    add("ragged_short_lines.csv", "some lines stop early: the cells left out are missing",
        "name,first,second,third\nAnna,4.5,3.9,4.1\nBen,5.0,4.4\nChris,3.8,4.0,4.2\nDora,4.1\nEmil,4.4,4.6,4.9\nFay,4.0,3.7,3.6\n"
        "Gus,5.1,4.8\nHal,4.7,4.5,4.4\nIda,3.9,4.1,4.0\n", 9,
        [text("name"), num("first", [4.5, 5, 3.8, 4.1, 4.4, 4, 5.1, 4.7, 3.9]),
         num("second", [3.9, 4.4, 4, None, 4.6, 3.7, 4.8, 4.5, 4.1]),
         num("third", [4.1, None, 4.2, None, 4.9, 3.6, None, 4.4, 4])])


# ================================================================ no header

def no_header():
    n = 40
    a, b, c = series(40, n, 12, 4, 2), series(41, n, 300, 40, 0), series(42, n, -3, 5, 1)
    cols = [num("#1", a), num("#2", b), num("#3", c)]
    add("noheader_numeric.csv", "no header: the first line is data, all numeric",
        table(zip([point(v, 2) for v in a], b, c)), n, cols)
    add("noheader_decimal_comma.csv", "no header, semicolons, decimal commas",
        table(zip([comma(v, 2) for v in a], b, [comma(v) for v in c]), ";"), n, cols)
    add("noheader_decimal_comma.tsv", "no header, tabs, decimal commas",
        table(zip([comma(v, 2) for v in a], b, [comma(v) for v in c]), "\t"), n, cols)
    add("noheader_blanks.txt", "no header, numbers in blank-padded columns, lines start with blanks",
        "".join(f" {a[k]:8.2f} {b[k]:6d} {c[k]:7.1f}\n" for k in range(n)), n, cols)
    add("noheader_iris.csv", "no header: four numbers and a class name on each line",
        "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n4.7,3.2,1.3,0.2,Iris-setosa\n4.6,3.1,1.5,0.2,Iris-setosa\n"
        "7.0,3.2,4.7,1.4,Iris-versicolor\n6.4,3.2,4.5,1.5,Iris-versicolor\n6.9,3.1,4.9,1.5,Iris-versicolor\n"
        "6.3,3.3,6.0,2.5,Iris-virginica\n5.8,2.7,5.1,1.9,Iris-virginica\n7.1,3.0,5.9,2.1,Iris-virginica\n\n", 10,
        [num("#1", [5.1, 4.9, 4.7, 4.6, 7, 6.4, 6.9, 6.3, 5.8, 7.1]), num("#2", [3.5, 3, 3.2, 3.1, 3.2, 3.2, 3.1, 3.3, 2.7, 3]),
         num("#3", [1.4, 1.4, 1.3, 1.5, 4.7, 4.5, 4.9, 6, 5.1, 5.9]), num("#4", [.2, .2, .2, .2, 1.4, 1.5, 1.5, 2.5, 1.9, 2.1]),
         text("#5")])
    add("noheader_auto_mpg.txt", "no header, blanks between, a tab before the quoted name, ? for missing, numbers such as 3504.",
        '18.0   8   307.0      130.0      3504.      12.0   70  1\t"chevrolet chevelle malibu"\n'
        '15.0   8   350.0      165.0      3693.      11.5   70  1\t"buick skylark 320"\n'
        '18.0   8   318.0      150.0      3436.      11.0   70  1\t"plymouth satellite"\n'
        '24.0   4   113.0      95.00      2372.      15.0   70  3\t"toyota corona mark ii"\n'
        '25.0   4   98.00      ?          2046.      19.0   71  1\t"ford pinto"\n'
        '27.0   4   97.00      88.00      2130.      14.5   71  3\t"datsun pl510"\n'
        '26.0   4   97.00      46.00      1835.      20.5   70  2\t"volkswagen 1131 deluxe sedan"\n'
        '25.0   4   110.0      87.00      2672.      17.5   70  2\t"peugeot 504"\n'
        '21.0   6   200.0      ?          2875.      17.0   74  1\t"ford maverick"\n'
        '10.0   8   360.0      215.0      4615.      14.0   70  1\t"ford f250"\n', 10,
        [num("#1", [18, 15, 18, 24, 25, 27, 26, 25, 21, 10]), num("#2", [8, 8, 8, 4, 4, 4, 4, 4, 6, 8]),
         num("#3", [307, 350, 318, 113, 98, 97, 97, 110, 200, 360]),
         num("#4", [130, 165, 150, 95, None, 88, 46, 87, None, 215]),
         num("#5", [3504, 3693, 3436, 2372, 2046, 2130, 1835, 2672, 2875, 4615]),
         num("#6", [12, 11.5, 11, 15, 19, 14.5, 20.5, 17.5, 17, 14]), num("#7", [70, 70, 70, 70, 71, 71, 70, 70, 74, 70]),
         unclear("#8", [1, 1, 1, 3, 1, 3, 2, 2, 1, 1]), text("#9")])
    n = 48
    load = series(43, n, 310, 60, 1)
    add("noheader_dates_first.csv", "no header: time and one number on each line",
        table(zip([s.strftime("%Y-%m-%d %H:%M:%S") for s in minutes(n, 60)], load)), n, [date("#1"), num("#2", load)])
    age, hours = series(44, 30, 40, 20, 0), series(45, 30, 38, 12, 0)
    work = pick(46, 30, ["Private", "State-gov", "Self-emp", "?"])
    add("noheader_question_marks.data.csv", "no header, a blank after each comma, ? for missing in text and numbers",
        table(zip(["?" if k in (0, 9) else v for k, v in enumerate(age)], work, hours, pick(47, 30, ["<=50K", ">50K"])), ", "), 30,
        [num("#1", holes(age, 0, 9)), text("#2"), num("#3", hours), text("#4")])


# ================================================================ ways to write numbers

def number_forms():
    n = 36
    w, l, q = series(50, n, 71.5, 12, 1), series(51, n, 1.74, .15, 2), series(52, n, 40, 15, 0)
    cols = [text("name"), num("weight", w), num("height", l), num("age", q)]
    who = (NAMES * 2)[:n]
    head = ["name", "weight", "height", "age"]
    add("decimal_comma_semicolon.csv", "semicolons and decimal commas",
        table([head] + list(zip(who, [comma(v) for v in w], [comma(v, 2) for v in l], q)), ";"), n, cols)
    add("decimal_comma_tab.tsv", "tabs and decimal commas",
        table([head] + list(zip(who, [comma(v) for v in w], [comma(v, 2) for v in l], q)), "\t"), n, cols)
    add("decimal_comma_quoted.csv", "decimal commas in quotes, with commas as the delimiter",
        table([head] + list(zip(who, [f'"{comma(v)}"' for v in w], [f'"{comma(v, 2)}"' for v in l], q))), n, cols)
    add("decimal_comma_bar.txt", "bars and decimal commas",
        table([head] + list(zip(who, [comma(v) for v in w], [comma(v, 2) for v in l], q)), "|"), n, cols)
    add("decimal_comma_aligned.txt", "columns aligned by blanks, decimal commas",
        f"{'name':<8}{'weight':>8}{'height':>8}{'age':>6}\n"
        + "".join(f"{who[k]:<8}{comma(w[k]):>8}{comma(l[k], 2):>8}{q[k]:>6}\n" for k in range(n)), n, cols)
    small, dens = series(53, n, .9, .5, 3), series(54, n, 1.05, .08, 3)
    small = [round(abs(v), 3) for v in small]
    add("decimal_comma_three_digits.csv", "decimal commas with three digits after them (0,512): no thousands",
        table([["sample", "absorbance", "density"]] + [(f"K{k}", comma(small[k], 3), comma(dens[k], 3)) for k in range(n)], ";"), n,
        [text("sample"), num("absorbance", small), num("density", dens)])

    big = [round(abs(v), 1) for v in series(55, n, 3000, 2600, 1)]
    huge = series(56, n, 1_500_000, 900_000, 2)
    add("decimal_comma_thousands_point.csv", "German numbers such as 3.078,5 and 1.500.000,25",
        table([["Ort", "Verbrauch", "Umsatz"]] + list(zip((CITIES * 2)[:n], [german(v, 1) for v in big], [german(v, 2) for v in huge])), ";"), n,
        [text("Ort"), num("Verbrauch", big), num("Umsatz", huge)])
    pop = [709037, 289330, 846916, 522250, 231800, 298479, 265086, 822483, 224004, 362133, 486022, 402739]
    add("thousands_point_integers.csv", "whole numbers with thousands points (1.209.037 beside 289.330), decimal commas elsewhere",
        table([["Stadt", "Einwohner", "Fläche"]] + list(zip(CITIES, [german(p + 500_000 * (k % 3 == 0), 0) for k, p in enumerate(pop)],
              [comma(v, 2) for v in series(49, 12, 140, 50, 2)])), ";"), 12,
        [text("Stadt"), num("Einwohner", [p + 500_000 * (k % 3 == 0) for k, p in enumerate(pop)]),
         num("Fläche", series(49, 12, 140, 50, 2))])
    price = series(57, n, 317600, 180000, 2)
    sqft = [abs(v) for v in series(58, n, 1800, 1400, 0)]
    beds = pick(59, n, [2, 3, 3, 4])
    add("thousands_comma_quoted.csv", "thousands commas in quotes, numbers below 1000 without",
        table([["city", "price", "sqft", "beds"]] + list(zip((CITIES * 2)[:n], [f'"{v:,.2f}"' for v in price],
              [f'"{v:,}"' if v >= 1000 else v for v in sqft], beds))), n,
        [text("city"), num("price", price), num("sqft", sqft), num("beds", beds)])
    add("thousands_comma_semicolon.csv", "thousands commas without quotes, semicolons between",
        table([["city", "price", "beds"]] + list(zip((CITIES * 2)[:n], [f"{v:,.2f}" for v in price], beds)), ";"), n,
        [text("city"), num("price", price), num("beds", beds)])
    add("currency_dollar.csv", "dollar amounts in quotes: \"$317,600.00\"",
        table([["city", "price", "beds"]] + list(zip((CITIES * 2)[:n], [f'"${v:,.2f}"' for v in price], beds))), n,
        [text("city"), num("price", price), num("beds", beds)])
    chg = series(60, n, 0, 900, 2)
    add("currency_dollar_negative.csv", "dollar amounts with the minus before the sign (-$5.00), thousands in quotes, one empty",
        table([["account", "change"]] + [(f"{NAMES[k % 20]} {k}", "" if k == 8 else
              (f'"-${-v:,.2f}"' if -v >= 1000 else f"-${-v:.2f}") if v < 0 else (f'"${v:,.2f}"' if v >= 1000 else f"${v:.2f}"))
              for k, v in enumerate(chg)]), n, [text("account"), num("change", holes(chg, 8))])
    eur = [round(abs(v), 2) for v in series(61, n, 1100, 1400, 2)]
    add("currency_euro_before.csv", "€ 1.234,50 with semicolons",
        table([["Artikel", "Preis", "Menge"]] + [(f"Art {k}", "€ " + german(eur[k]), q[k]) for k in range(n)], ";"), n,
        [text("Artikel"), num("Preis", eur), num("Menge", q)])
    add("currency_euro_after.csv", "1.234,50 € with semicolons, in cp1252",
        table([["Artikel", "Preis", "Menge"]] + [(f"Art {k}", german(eur[k]) + " €", q[k]) for k in range(n)], ";", "\r\n"), n,
        [text("Artikel"), num("Preis", eur), num("Menge", q)], "cp1252")
    kr = [abs(v) for v in series(62, n, 4200, 5000, 0)]
    add("currency_kr.csv", "Swedish crowns: 1 234 kr",
        table([["vara", "pris", "antal"]] + [(f"vara {k}", grouped(kr[k], 0, " ") + " kr", q[k]) for k in range(n)], ";"), n,
        [text("vara"), num("pris", kr), num("antal", q)])
    gbp, jpy, chf, brl = series(63, n, 900, 250, 2), series(64, n, 900_000, 400_000, 0), series(65, n, 1500, 700, 2), series(66, n, 2500, 1500, 2)
    add("currency_several.tsv", "pounds, yen, CHF with apostrophes and reais, one per column",
        table([["item", "london", "tokyo", "zurich", "sao paulo"]] + [(f"i{k}", f"£{gbp[k]:,.2f}", f"¥{jpy[k]:,}",
              "CHF " + grouped(chf[k], 2, "'"), "R$ " + german(brl[k])) for k in range(n)], "\t"), n,
        [text("item"), num("london", gbp), num("tokyo", jpy), num("zurich", chf), num("sao paulo", brl)])
    usd = series(67, n, 50, 12, 2)
    add("currency_code.csv", "the currency as a code: USD 12.50 before, 12.50 EUR after",
        table([["item", "list", "paid"]] + [(f"i{k}", f"USD {usd[k]:.2f}", f"{gbp[k]:.2f} EUR") for k in range(n)]), n,
        [text("item"), num("list", usd), num("paid", gbp)])
    pc, pd = series(68, n, 51.4, 12, 1), series(69, n, 3, 6, 2)
    add("percent_point.csv", "percent signs: 51.4 % and -3.25% (the values are 51.4 and -3.25)",
        table([["district", "turnout", "swing"]] + [(f"D{k}", f"{pc[k]:.1f} %", f"{pd[k]:.2f}%") for k in range(n)]), n,
        [text("district"), num("turnout", pc), num("swing", pd)])
    add("percent_comma.csv", "percent signs and decimal commas: 51,4% and 51,4 %",
        table([["Kreis", "Beteiligung", "Gewinn"]] + [(f"K{k}", comma(pc[k]) + "%", comma(pd[k], 2) + " %") for k in range(n)], ";"), n,
        [text("Kreis"), num("Beteiligung", pc), num("Gewinn", pd)])
    acc = series(70, n, 400, 4500, 2)
    add("accounting_negatives.csv", "negatives in parentheses: (3075.70)",
        table([["account", "balance"]] + [(f"A-{k}", f"({-v:.2f})" if v < 0 else f"{v:.2f}") for k, v in enumerate(acc)]), n,
        [text("account"), num("balance", acc)])
    add("accounting_dollar.csv", "negatives as ($3,075.70) in quotes, one cell empty",
        table([["account", "balance"]] + [(f"A-{k}", "" if k == 5 else f'"(${-v:,.2f})"' if v < 0 else f'"${v:,.2f}"')
              for k, v in enumerate(acc)]), n, [text("account"), num("balance", holes(acc, 5))])
    kg, m, deg, kmh = series(71, n, 12, 5, 0), series(72, n, 3.2, .8, 1), series(73, n, 21.5, 3, 1), series(74, n, 80, 25, 0)
    add("units_in_cells.csv", "one unit throughout a column: 12 kg, 3.2m, 21.5 °C, 80km/h",
        table([["parcel", "mass", "length", "temp", "speed"]] + [(f"p{k}", f"{kg[k]} kg", f"{m[k]:.1f}m", f"{deg[k]:.1f} °C", f"{kmh[k]}km/h") for k in range(n)]), n,
        [text("parcel"), num("mass", kg), num("length", m), num("temp", deg), num("speed", kmh)])
    add("units_in_cells_comma.csv", "units and decimal commas: 3,2 m; 21,5 °C in Latin-1; one cell empty",
        table([["Paket", "Länge", "Temperatur"]] + [(f"p{k}", comma(m[k]) + " m", "" if k == 4 else comma(deg[k]) + " °C") for k in range(n)], ";"), n,
        [text("Paket"), num("Länge", m), num("Temperatur", holes(deg, 4))], "latin-1")
    sp = [abs(v) for v in series(75, n, 24000, 20000, 0)]
    spd = [round(abs(v), 2) for v in series(76, n, 5200, 4800, 2)]
    for mark, name, what in ((" ", "blank", "plain blanks"), ("\u00a0", "nbsp", "no-break spaces (U+00A0)"),
                             ("\u202f", "narrow_nbsp", "narrow no-break spaces (U+202F)")):
        add(f"thousands_{name}.csv", f"French numbers: {what} as thousands marks, decimal commas",
            table([["ville", "habitants", "budget"]] + list(zip((CITIES * 2)[:n], [grouped(v, 0, mark) for v in sp], [grouped(v, 2, mark, ",") for v in spd])), ";"), n,
            [text("ville"), num("habitants", sp), num("budget", spd)])
    add("thousands_nbsp_cp1252.csv", "French Excel: cp1252, no-break space thousands, decimal commas, oui/non, CRLF",
        table([["ville", "budget (€)", "côtière"]] + list(zip((CITIES * 2)[:n], [grouped(v, 2, "\u00a0", ",") for v in spd], pick(77, n, ["oui", "non"]))), ";", "\r\n"), n,
        [text("ville"), num("budget (€)", spd), yesno("côtière", [int(v == "oui") for v in pick(77, n, ["oui", "non"])])], "cp1252")
    add("thousands_apostrophe.csv", "Swiss numbers: 1'234.50",
        table([["Kanton", "Einwohner", "Ertrag"]] + list(zip((CITIES * 2)[:n], [grouped(v, 0, "'") for v in sp], [grouped(v, 2, "'") for v in spd])), ";"), n,
        [text("Kanton"), num("Einwohner", sp), num("Ertrag", spd)])
    add("thousands_apostrophe_curly.csv", "Swiss numbers with the typographic apostrophe: 1’234.50",
        table([["Kanton", "Ertrag"]] + list(zip((CITIES * 2)[:n], [grouped(v, 2, "\u2019") for v in spd]))), n,
        [text("Kanton"), num("Ertrag", spd)])
    cold = series(78, n, -2, 9, 1)
    add("minus_unicode.csv", "the typographic minus sign: −5.2",
        table([["day", "low"]] + list(zip(days(n), [point(v).replace("-", "\u2212") for v in cold]))), n, [date("day"), num("low", cold)])
    add("minus_trailing.txt", "SAP list: bars on both sides, rules, amounts such as 1.234,50-",
        "Kontoauszug Sachkonto 410000\n\n" + "-" * 45 + "\n|Beleg     |Datum     |        Betrag|Währg|\n" + "-" * 45 + "\n"
        + "".join(f"|{k:010d}|{d:%d.%m.%Y}|{german(abs(v)) + ('-' if v < 0 else ' '):>14}|EUR  |\n"
                  for k, d, v in zip(range(4100017, 4100017 + n), days(n), acc)) + "-" * 45 + "\n", n,
        [ident("Beleg", range(4100017, 4100017 + n)), date("Datum"), num("Betrag", acc), text("Währg")])
    add("odd_number_forms.csv", "plus signs, numbers without a digit before or after the point, exponents, 1.0 for 1",
        "a,b,c,d\n+3.4,.5,1.2E+03,1.0\n-2.1,.75,9.81e2,2.0\n+0.8,1.,1E3,2.0\n-0.3,-.25,1.05E+03,1.0\n+1.9,2.5,8.7e+02,3.0\n"
        "+2.2,.125,1.11E3,1.0\n-1.4,3.,1.3e3,2.0\n0.0,-.5,9.9E+02,3.0\n", 8,
        [num("a", [3.4, -2.1, .8, -.3, 1.9, 2.2, -1.4, 0]), num("b", [.5, .75, 1, -.25, 2.5, .125, 3, -.5]),
         num("c", [1200, 981, 1000, 1050, 870, 1110, 1300, 990]), num("d", [1, 2, 2, 1, 3, 1, 2, 3])])
    conc = [round(abs(v), 2) for v in series(79, n, 5, 4, 2)]
    add("exponents_comma.csv", "exponents with decimal commas: 1,20E+03",
        table([["Probe", "Keimzahl"]] + [(f"M{k}", comma(conc[k], 2) + f"E+0{k % 3 + 2}") for k in range(n)], ";"), n,
        [text("Probe"), num("Keimzahl", [float(f"{conc[k]:.2f}e{k % 3 + 2}") for k in range(n)])])
    add("exponents_small.csv", "p-values down to 1e-300, very large and very small numbers",
        "gene,p,base_mean,fold\nBRCA2,1.2e-300,15023.7,2.1\nTP53,4.5E-12,880.2,-1.4\nEGFR,0.00031,5.6e4,0.7\nMYC,0.52,12.9,-0.1\n"
        "KRAS,1,0.0,NA\nPTEN,NA,33.1,0.2\nALK,7.7e-05,4021.5,1.8\nRB1,0.044,610,-0.9\n", 8,
        [text("gene"), num("p", [1.2e-300, 4.5e-12, .00031, .52, 1, None, 7.7e-5, .044]),
         num("base_mean", [15023.7, 880.2, 56000, 12.9, 0, 33.1, 4021.5, 610]),
         num("fold", [2.1, -1.4, .7, -.1, None, .2, 1.8, -.9])])


# ================================================================ yes and no

def yes_no():
    n = 24
    b = [pick(80 + k, n, [1, 0]) for k in range(7)]
    score = series(88, n, 60, 20, 1)
    w = lambda v, yes, no: yes if v else no
    add("yes_no_many.csv", "yes/no, Y/N, TRUE/FALSE, true/false, 0/1, Yes/No with gaps",
        table([["who", "smoker", "married", "active", "paid", "flag", "member", "score"]] + [
            (NAMES[k % 20], w(b[0][k], "yes", "no"), w(b[1][k], "Y", "N"), w(b[2][k], "TRUE", "FALSE"), w(b[3][k], "true", "false"),
             b[4][k], "" if k in (3, 9) else w(b[5][k], "Yes", "No"), score[k]) for k in range(n)]), n,
        [text("who"), yesno("smoker", b[0]), yesno("married", b[1]), yesno("active", b[2]), yesno("paid", b[3]),
         yesno("flag", b[4]), yesno("member", holes(b[5], 3, 9)), num("score", score)])
    add("yes_no_german.csv", "ja/nein, Ja/Nein with k.A. for missing, WAHR/FALSCH as German Excel writes it",
        table([["Name", "Raucher", "Diabetes", "aktiv", "Wert"]] + [
            (NAMES[k % 20], w(b[0][k], "ja", "nein"), "k.A." if k in (2, 14) else w(b[1][k], "Ja", "Nein"),
             w(b[2][k], "WAHR", "FALSCH"), comma(score[k])) for k in range(n)], ";"), n,
        [text("Name"), yesno("Raucher", b[0]), yesno("Diabetes", holes(b[1], 2, 14)), yesno("aktiv", b[2]), num("Wert", score)])
    add("yes_no_french.csv", "oui/non and Oui/Non with decimal commas",
        table([["nom", "fumeur", "abonné", "note"]] + [
            (NAMES[k % 20], w(b[0][k], "oui", "non"), w(b[1][k], "Oui", "Non"), comma(score[k])) for k in range(n)], ";"), n,
        [text("nom"), yesno("fumeur", b[0]), yesno("abonné", b[1]), num("note", score)])


# ================================================================ encodings and line ends

def encodings():
    n = 30
    ort = [["Köln", "Düsseldorf", "Gießen", "Tübingen", "Fürth"][k % 5] for k in range(n)]
    tmp, gr = series(90, n, 11, 5, 1), series(91, n, 47, 20, 2)
    cols = [text("Ort"), num("Temperatur (°C)", tmp), num("Größe", gr)]
    rows = [["Ort", "Temperatur (°C)", "Größe"]] + list(zip(ort, [comma(v) for v in tmp], [comma(v, 2) for v in gr]))
    add("encoding_latin1.csv", "Latin-1: umlauts in header and cells, degree sign", table(rows, ";"), n, cols, "latin-1")
    add("encoding_utf8_bom.csv", "UTF-8 with byte order mark, first column numeric",
        "\ufeff" + table([(r[1], r[0], r[2]) for r in rows], ";", "\r\n"), n, [cols[1], cols[0], cols[2]])
    add("encoding_utf8_bom_quoted.csv", "UTF-8 with byte order mark directly before a quoted header",
        "\ufeff" + '"Größe","Ort"\r\n' + table(((f'"{v:.2f}"', f'"{o}"') for v, o in zip(gr, ort)), ",", "\r\n"), n, [cols[2], cols[0]])
    body = table([["Ort", "Temperatur (°C)", "Größe"]] + list(zip(ort, tmp, [point(v, 2) for v in gr])), "\t", "\r\n")
    add("encoding_utf16le.txt", "Excel's 'Unicode text': UTF-16 little endian with BOM, tabs, CRLF",
        b"\xff\xfe" + body.encode("utf-16-le"), n, cols)
    add("encoding_utf16be.csv", "UTF-16 big endian with BOM, semicolons, decimal commas",
        b"\xfe\xff" + table(rows, ";").encode("utf-16-be"), n, cols)
    add("encoding_cp1252.csv", "cp1252: euro sign, curly quotes, en dash in text cells",
        table([["Artikel", "Preis in €", "Menge"]] + [(f"Modell “{NAMES[k % 20]}” – neu", comma(gr[k], 2), k * 7 % 11) for k in range(n)], ";", "\r\n"), n,
        [text("Artikel"), num("Preis in €", gr), num("Menge", [k * 7 % 11 for k in range(n)])], "cp1252")
    broken = table([["place", "temp", "size"]] + list(zip(ort, tmp, [point(v, 2) for v in gr]))).encode("utf-8")
    broken += b"Caf\xe9 Nord,12.5,48.10\n"
    add("encoding_one_bad_byte.csv", "UTF-8 but for one Latin-1 byte in a text cell of the last line",
        broken, n + 1, [text("place"), num("temp", tmp + [12.5]), num("size", gr + [48.1])])

    plain = table([["city", "temp", "size"]] + list(zip(CITIES, tmp, [point(v, 2) for v in gr])))
    cols = [text("city"), num("temp", tmp[:20]), num("size", gr[:20])]
    add("lines_cr.csv", "CR line ends (old Macintosh)", plain.replace("\n", "\r"), 20, cols)
    add("lines_crlf_no_end.csv", "CRLF line ends, none after the last line", plain.replace("\n", "\r\n")[:-2], 20, cols)
    pieces = plain.splitlines()
    add("lines_mixed.csv", "CRLF and LF mixed in one file",
        "".join(line + ("\r\n" if k % 3 else "\n") for k, line in enumerate(pieces)), 20, cols)
    add("lines_blank_between.csv", "a blank line after every fourth line, and three at the end",
        "".join(line + ("\n\n" if k % 4 == 3 else "\n") for k, line in enumerate(pieces)) + "\n\n\n", 20, cols)
    add("lines_double_spaced.csv", "each line followed by CR CR LF (written twice through text mode)",
        plain.replace("\n", "\r\r\n"), 20, cols)
    add("lines_only_delimiters_end.csv", "lines of semicolons only at the end, as Excel leaves them",
        plain.replace(",", ";").replace("\n", "\r\n") + ";;\r\n" * 6, 20, cols)
    add("lines_ctrl_z.csv", "an old DOS file: Ctrl-Z (0x1A) as the last character",
        plain.replace("\n", "\r\n") + "\x1a", 20, cols)


# ================================================================ comments, units lines

def comments_and_units():
    n = 28
    x, y, z = series(100, n, 3, 2, 3), series(101, n, -20, 9, 2), series(102, n, 500, 60, 0)
    rows = list(zip([point(v, 3) for v in x], [point(v, 2) for v in y], z))
    cols = [num("x", x), num("y", y), num("z", z)]
    add("comments_top.csv", "comment lines starting with # before the header, with commas inside",
        "# written by logger 4.2\n# site: A, B, C, D\n# operator: Kim\n#\nx,y,z\n" + table(rows), n, cols)
    add("comments_between.csv", "comment lines starting with # in the middle of the data",
        "x,y,z\n" + table(rows[:9]) + "# battery changed\n" + table(rows[9:20]) + "# restart, 12:40\n#\n" + table(rows[20:]), n, cols)
    add("comments_header.txt", "numpy savetxt: the header itself starts with '# ', blanks between, 1.0e+00 numbers",
        "# x y z\n" + "".join(f"{x[k]:.18e} {y[k]:.18e} {z[k]:.18e}\n" for k in range(n)), n, cols)
    add("comments_percent.txt", "comment lines starting with % (Matlab, buoy data), tabs",
        "% buoy 44013\n% depth 55 m\nx\ty\tz\n" + table(rows, "\t"), n, cols)
    co2 = series(103, 24, 316, 3, 2)
    dec = [round(1958.2027 + k / 12, 4) for k in range(24)]
    ym = [(1958 + (k + 2) // 12, (k + 2) % 12 + 1) for k in range(24)]
    avg = [-99.99 if k == 3 else v for k, v in enumerate(co2)]
    add("comments_co2.txt", "CO2 record: a text of # lines (the names stand there in words), then aligned numbers; -99.99 and -1 stay numbers",
        "# --------------------------------------------------------------------\n# USE OF THESE DATA\n#\n"
        "# These data are made freely available to the public, and the\n# scientific community.\n#\n"
        "#            decimal     monthly    #days\n#             date       average\n"
        + "".join(f"{ym[k][0]:4d}  {ym[k][1]:2d}   {dec[k]:9.4f}   {avg[k]:8.2f}   {-1 if k < 6 else 20 + k % 9:3d}\n" for k in range(24)), 24,
        [num("#1", [a for a, _ in ym]), unclear("#2", [b for _, b in ym]), unclear("#3", dec), num("#4", avg),
         num("#5", [-1 if k < 6 else 20 + k % 9 for k in range(24)])])

    stamp = [s.strftime("%Y-%m-%d %H:%M") for s in minutes(n, 30)]
    ws, ta, pr = series(104, n, 6, 3, 1), series(105, n, 9, 4, 1), series(106, n, 1009, 5, 1)
    body = list(zip(stamp, ws, ta, pr))
    cols = [date("time"), num("wind", ws), num("temp", ta), num("pressure", pr)]
    add("units_line.csv", "a line of units below the header, first cell empty: no data row",
        "time,wind,temp,pressure\n,m/s,°C,hPa\n" + table(body), n, cols)
    add("units_line_brackets.tsv", "a line of units in brackets below the header",
        "time\twind\ttemp\tpressure\n[UTC]\t[m/s]\t[°C]\t[hPa]\n" + table(body, "\t"), n, cols)
    add("units_line_latin1.csv", "a line of units below the header, Latin-1, semicolons, decimal commas",
        "Zeit;Wind;Temperatur;Druck\nUTC;m/s;°C;hPa\n" + table(((a, comma(b), comma(c), comma(d)) for a, b, c, d in body), ";"), n,
        [date("Zeit"), num("Wind", ws), num("Temperatur", ta), num("Druck", pr)], "latin-1")
    tot, med = series(107, n, 52000, 20000, 0), holes(series(108, n, 61000, 9000, 0), 13)
    add("labels_line.csv", "census download: a line of long labels below the header; one value is '-'",
        "GEO_ID,NAME,B01001_001E,B19013_001E\nGeography,Geographic Area Name,Estimate!!Total,Estimate!!Median household income\n"
        + table((f"0500000US{1001 + 2 * k:05d}", f'"{CITIES[k % 20]} County, Alabama"', tot[k], "-" if med[k] is None else med[k]) for k in range(n)), n,
        [text("GEO_ID"), text("NAME"), num("B01001_001E", tot), num("B19013_001E", med)])
    batt, air = series(109, n, 12.8, .4, 2), holes(series(110, n, 4, 5, 2), 6, 7)
    add("logger_toa5.csv", "data logger: a line about the device, names, units, kinds, then data; \"NAN\" for missing",
        '"TOA5","Hilltop","CR1000","12345","CR1000.Std.31","CPU:hill.CR1","4021","Table1"\n"TIMESTAMP","RECORD","Batt_V_Min","AirTC_Avg"\n'
        '"TS","RN","Volts","Deg C"\n"","","Min","Avg"\n'
        + table((f'"{stamp[k]}:00"', 5210 + k, batt[k], '"NAN"' if air[k] is None else air[k]) for k in range(n)), n,
        [date("TIMESTAMP"), ident("RECORD", range(5210, 5210 + n)), num("Batt_V_Min", batt), num("AirTC_Avg", air)])
    add("logger_pond.csv", "data logger: BOM, quoted title line, quoted names with commas, last columns nearly always empty",
        '\ufeff"Plot Title: Pond 3"\n"#","Date Time, GMT+02:00","Temp, °C (LGR S/N: 1234567, SEN S/N: 1234567)","Intensity, Lux","Coupler Attached","End Of File"\n'
        + table((k + 1, f"{s:%m/%d/%y %I:%M:%S %p}", point(ta[k] + 10, 1), z[k], "Logged" if k == n - 1 else "", "Logged" if k == n - 1 else "")
                for k, s in enumerate(minutes(n, 15))), n,
        [ident("#", range(1, n + 1)), date("Date Time, GMT+02:00"),
         num("Temp, °C (LGR S/N: 1234567, SEN S/N: 1234567)", [round(v + 10, 1) for v in ta]), num("Intensity, Lux", z),
         text("Coupler Attached"), text("End Of File")])


# ================================================================ missing values

def missing():
    marks = ["", "NA", "N/A", "-", "--", ".", "null", "NULL", "nan", "NaN", "#N/A", "#DIV/0!", "n.a.", "*", "?", "None", "#VALUE!", "n/a"]
    n = 40
    cols = [text("key")]
    head, grid = ["key"], [[f"k{k}"] for k in range(n)]
    for j, mark in enumerate(marks):
        v = holes(series(120 + j, n, 10 + j, 3, 1), j % 7 + 2, 20 + j % 5, 33)
        head.append(f"v{j + 1}")
        cols.append(num(f"v{j + 1}", v))
        for k in range(n):
            grid[k].append(mark if v[k] is None else v[k])
    add("missing_marks.csv", "each column has its own mark for missing: " + " ".join(repr(m) for m in marks), table([head] + grid), n, cols)
    v, u = series(140, n, 80, 20, 1), series(141, n, 3, 1, 2)
    mixed = {2: "", 5: "NA", 8: "-", 11: "n.a.", 14: "NULL", 17: "#N/A", 20: ".", 23: "nan"}
    add("missing_mixed.csv", "several marks for missing in one column",
        table([["day", "flow", "level"]] + [(d, mixed.get(k, v[k]), u[k]) for k, d in enumerate(days(n))]), n,
        [date("day"), num("flow", holes(v, *mixed)), num("level", u)])
    add("missing_german.csv", "missing as k.A., keine Angabe and - with semicolons and decimal commas",
        table([["Tag", "Abfluss", "Pegel"]] + [(f"{d:%d.%m.%Y}", {4: "k.A.", 9: "keine Angabe", 21: "-"}.get(k, comma(v[k])), comma(u[k], 2)) for k, d in enumerate(days(n))], ";"), n,
        [date("Tag"), num("Abfluss", holes(v, 4, 9, 21)), num("Pegel", u)])
    v, u = series(142, 300, 55, 12, 1), series(143, 300, 7, .6, 2)
    add("missing_err_once.csv", "a single ERR among 300 numbers, far down: that cell is missing",
        table([["n", "reading", "ph"]] + [(k + 1, "ERR" if k == 271 else v[k], u[k]) for k in range(300)]), 300,
        [ident("n", range(1, 301)), num("reading", holes(v, 271)), num("ph", u)])
    add("missing_word_once.csv", "'see note 3' once among 300 numbers",
        table([["reading", "ph"]] + [(v[k], "see note 3" if k == 288 else u[k]) for k in range(300)]), 300,
        [num("reading", v), num("ph", holes(u, 288))])
    lead = [round(abs(x), 2) for x in series(144, 200, .4, .3, 2)]
    add("missing_detection_limit.csv", "<0.05 (below the detection limit) in 1 of 200 cells: missing",
        table([["well", "lead", "ph"]] + [(f"W{k % 17}", "<0.05" if k == 103 else point(lead[k], 2), u[k]) for k in range(200)]), 200,
        [text("well"), num("lead", holes(lead, 103)), num("ph", u[:200])])
    t, r = series(145, 60, 12, 6, 1), series(146, 60, 4, 3, 1)
    t = [-9999 if k in (7, 30, 31) else a for k, a in enumerate(t)]
    r = [-999 if k % 11 == 5 else round(abs(a), 1) for k, a in enumerate(r)]
    add("missing_sentinel.csv", "-9999 and -999 for missing: the values stay numbers",
        table([["date", "tavg", "prcp"]] + list(zip(days(60), t, r))), 60, [date("date"), num("tavg", t), num("prcp", r)])
    late = holes(series(147, 80, 33, 5, 2), *range(20))
    add("missing_first_twenty.csv", "a numeric column whose first 20 rows are empty",
        table([["date", "old", "new"]] + [(d, a, point(b, 2)) for d, a, b in zip(days(80), series(148, 80, 30, 5, 1), late)]), 80,
        [date("date"), num("old", series(148, 80, 30, 5, 1)), num("new", late)])
    c = [k * 37 % 101 for k in range(250)] + series(149, 50, 50, 20, 2)
    add("late_decimals.csv", "whole numbers for 250 rows, then decimals, and one empty",
        table([["count", "label"]] + [("" if k == 120 else a, CITIES[k % 20]) for k, a in enumerate(c)]), 300,
        [num("count", holes(c, 120)), text("label")])
    gdp = holes(series(150, 60, 4.2, 1, 2), 5, 40)
    add("missing_dot_rates.csv", "daily rates with . on holidays",
        table([["DATE", "DGS10"]] + [(d, "." if g is None else point(g, 2)) for d, g in zip(days(60), gdp)]), 60, [date("DATE"), num("DGS10", gdp)])
    cl, vol = holes(series(151, 50, 101, 4, 6), 12), holes(series(152, 50, 2_500_000, 900_000, 0), 12)
    add("missing_null_row.csv", "stock prices with a row of null",
        table([["Date", "Close", "Volume"]] + [(d, "null" if a is None else f"{a:.6f}", "null" if b is None else b) for d, a, b in zip(days(50), cl, vol)]), 50,
        [date("Date"), num("Close", cl), num("Volume", vol)])


# ================================================================ quotes

def quotes():
    n = 20
    a, b = series(160, n, 4, 2, 1), series(161, n, 250, 60, 0)
    add("quoted_everything.csv", "every cell in quotes, numbers too",
        table([['"name"', '"score"', '"count"']] + [(f'"{NAMES[k]}"', f'"{a[k]}"', f'"{b[k]}"') for k in range(n)]), n,
        [text("name"), num("score", a), num("count", b)])
    add("quoted_everything_semicolon.csv", "every cell in quotes, semicolons, decimal commas, empty quotes for missing",
        table([['"name"', '"score"', '"count"']] + [(f'"{NAMES[k]}"', '""' if k == 6 else f'"{comma(a[k])}"', f'"{b[k]}"') for k in range(n)], ";"), n,
        [text("name"), num("score", holes(a, 6)), num("count", b)])
    add("quoted_embedded.csv", "quotes with commas, line breaks and doubled quotes inside",
        'id,comment,rating,price\n1,"good, but slow",4,12.50\n2,"he said ""never again""",1,7.00\n3,"first line\nsecond line, with comma\n\nfourth line",3,9.90\n'
        '4,plain,5,11.20\n5,"",2,8.00\n6,"ends with quote""",4,10.10\n7,"""starts",3,9.40\n8,"1,2,3",5,13.00\n', 8,
        [ident("id", range(1, 9)), text("comment"), num("rating", [4, 1, 3, 5, 2, 4, 3, 5]), num("price", [12.5, 7, 9.9, 11.2, 8, 10.1, 9.4, 13])])
    add("quoted_backslash.csv", "quotes inside quotes written with a backslash: \\\"",
        'title,stars,pages\n"The \\"Best\\" of, well, all",4.1,320\n"Plain",3.9,210\n"Say \\"hi\\"",4.4,180\n"Other, one",2.7,455\n"Last",3.3,299\n', 5,
        [text("title"), num("stars", [4.1, 3.9, 4.4, 2.7, 3.3]), num("pages", [320, 210, 180, 455, 299])])
    add("quoted_header_linebreaks.csv", "names with line breaks in quotes",
        '"Sample\nname","Temp\n(°C)","Mass, dry\n(g)"\n' + table((f"S{k}", a[k], b[k]) for k in range(n)), n,
        [text("Sample\nname"), num("Temp\n(°C)", a), num("Mass, dry\n(g)", b)])
    add("quoted_single.csv", "single quotes around text, apostrophes inside doubled, no commas inside",
        "name,score,count\n" + table((f"'{NAMES[k]}''s team'", a[k], b[k]) for k in range(n)), n, [text("name"), num("score", a), num("count", b)])
    add("quoted_single_commas.csv", "single quotes around text with commas inside",
        "'name','score','count'\n" + table((f"'{NAMES[k]}, {CITIES[k]}'", a[k], b[k]) for k in range(n)), n, [text("name"), num("score", a), num("count", b)])
    add("apostrophes.csv", "apostrophes in text without any quoting, one at the start of a cell",
        "name,score,count\n" + table((f"'t Hof" if k == 4 else f"{NAMES[k]}'s cafe", a[k], b[k]) for k in range(n)), n,
        [text("name"), num("score", a), num("count", b)])
    add("inch_marks.csv", "inch marks: double quotes inside cells that are not quoted",
        "part,diameter,stock\n" + table((f'Pipe {k % 4 + 1}/8" steel' if k % 2 else f"Cap {k}", a[k], b[k]) for k in range(n)), n,
        [text("part"), num("diameter", a), num("stock", b)])
    add("blank_before_quote.csv", "a blank between comma and opening quote, commas inside the quotes",
        '"score", "name", "count"\n' + table(((a[k], f'"{NAMES[k]}, {CITIES[k]}"', b[k]) for k in range(n)), ", "), n,
        [num("score", a), text("name"), num("count", b)])
    add("blanks_around_cells.csv", "blanks around cells and names",
        "name   ,  score ,  count\n" + "".join(f"{NAMES[k]:<7},{a[k]:>7} ,{b[k]:>7}  \n" for k in range(n)), n,
        [text("name"), num("score", a), num("count", b)])
    add("numbers_quoted_text_not.csv", "numbers in quotes, text without; blanks inside the quotes",
        "name,score,count\n" + table((NAMES[k], f'" {a[k]} "', f'"{b[k]}"') for k in range(n)), n, [text("name"), num("score", a), num("count", b)])
    add("excel_formula_strings.csv", "codes written as =\"00123\" so that Excel keeps the zeros",
        'code,amount\n' + table((f'="{123 + 7 * k:05d}"', a[k]) for k in range(n)), n,
        [ident("code", [123 + 7 * k for k in range(n)]), num("amount", a)])


# ================================================================ delimiters

def delimiters():
    n = 20
    a, b = series(170, n, 4, 2, 1), series(171, n, 250, 60, 0)
    cols = [text("city"), num("score", a), num("count", b)]
    rows = [("city", "score", "count")] + list(zip(CITIES, a, b))
    add("aligned_blanks.txt", "columns aligned by blanks, numbers to the right",
        "".join(f"{c:<10}{s:>8}{k:>8}\n" for c, s, k in rows), n, cols)
    add("aligned_indented.txt", "printed data frame: row numbers without a name, lines start with blanks",
        "".join(f"{'' if k == 0 else k - 1:>4}{c:>10}{s:>8}{m:>8}\n" for k, (c, s, m) in enumerate(rows)), n, [ident("#1", range(n))] + cols)
    two = ["New York", "Los Angeles", "Oslo", "San Jose", "Leeds", "Fort Worth", "Cork", "El Paso", "Graz", "Las Vegas"]
    add("aligned_text_with_blanks.txt", "fixed width: at least two blanks between columns, single blanks inside names",
        f"{'city name':<14}{'score':>8}{'count':>8}\n" + "".join(f"{two[k]:<14}{a[k]:>8}{b[k]:>8}\n" for k in range(10)), 10,
        [text("city name"), num("score", a[:10]), num("count", b[:10])])
    add("blanks_single.txt", "one blank between cells", table(rows, " "), n, cols)
    add("tabs_named_csv.csv", "tabs, though the name ends in .csv; commas and semicolons in the text",
        table([("city", "score", "count")] + [(f"{c}, centre; old", s, k) for c, s, k in rows[1:]], "\t"), n, cols)
    add("commas_named_tsv.tsv", "commas, though the name ends in .tsv", table(rows), n, cols)
    add("semicolon.csv", "semicolons, decimal points, commas in the text",
        table([("city", "score", "count")] + [(f"{c}, centre", s, k) for c, s, k in rows[1:]], ";"), n, cols)
    add("bar.txt", "bars between", table(rows, "|"), n, cols)
    add("sep_line.csv", "sep=; as the first line, for Excel", "sep=;\r\n" + table(rows, ";", "\r\n"), n, cols)
    add("sep_line_decimal_comma.csv", "BOM, sep=; line, decimal commas",
        "\ufeffsep=;\r\n" + table([rows[0]] + [(c, comma(s), k) for c, s, k in rows[1:]], ";", "\r\n"), n, cols)
    add("markdown_table.txt", "a table as in Markdown: bars on both sides and a rule below the header",
        "| city       | score | count |\n|------------|------:|------:|\n" + "".join(f"| {c:<10} | {s:>5} | {k:>5} |\n" for c, s, k in rows[1:]), n, cols)
    add("psql_output.txt", "output of a database client: bars, rule with plus signs, '(20 rows)' at the end",
        "   city   | score | count \n----------+-------+-------\n" + "".join(f" {c:<8} | {s:>5} | {k:>5}\n" for c, s, k in rows[1:]) + "(20 rows)\n\n", n, cols)
    add("one_column.csv", "one numeric column with a name: no delimiter anywhere",
        "score\n" + "".join(f"{v}\n" for v in a), n, [num("score", a)])
    add("one_column_no_header.txt", "one number per line and nothing else", "".join(f"{v}\n" for v in a), n, [num("#1", a)])
    add("one_column_decimal_comma.csv", "one column of decimal commas: the comma is no delimiter",
        "Messwert\n" + "".join(f"{comma(v, 2)}\n" for v in series(172, n, 12, 3, 2)), n, [num("Messwert", series(172, n, 12, 3, 2))])


# ================================================================ names

def names():
    n = 20
    a, b, c = series(180, n, 4, 2, 1), series(181, n, 250, 60, 0), series(182, n, 9, 3, 2)
    add("names_duplicated.csv", "the same name three times",
        "site,value,value,value\n" + table(zip(CITIES, a, b, c)), n, [text("site"), num("value", a), num("#3", b), num("#4", c)])
    add("names_empty.csv", "empty names in the middle and at the end, columns filled",
        "site,first,,second,\n" + table(zip(CITIES, a, b, c, [k % 5 for k in b])), n,
        [text("site"), num("first", a), num("#3", b), num("second", c), num("#5", [k % 5 for k in b])])
    add("names_unnamed_0.csv", "pandas row numbers: Unnamed: 0", "Unnamed: 0,first,second\n" + table((k, a[k], c[k]) for k in range(n)), n,
        [ident("Unnamed: 0", range(n)), num("first", a), num("second", c)])
    add("names_empty_first.csv", "pandas row numbers under an empty name", ",first,second\n" + table((k, a[k], c[k]) for k in range(n)), n,
        [ident("#1", range(n)), num("first", a), num("second", c)])
    add("names_unicode.csv", "Japanese, Greek, Cyrillic names and an emoji",
        "地名,気温,θερμοκρασία,скорость,🌡️ max\n" + table((["東京", "大阪", "京都", "札幌"][k % 4], a[k], c[k], b[k], round(a[k] + 5, 1)) for k in range(n)), n,
        [text("地名"), num("気温", a), num("θερμοκρασία", c), num("скорость", b), num("🌡️ max", [round(v + 5, 1) for v in a])])
    add("names_sql_like.csv", "names that look like code: select, a\"b, x.y, 100%, a b, from",
        'select,"a""b",x.y,100%,a b,from\n' + table(zip(a, b, c, [k % 7 for k in b], [k % 3 + .5 for k in b], CITIES)), n,
        [num("select", a), num('a"b', b), num("x.y", c), num("100%", [k % 7 for k in b]), num("a b", [k % 3 + .5 for k in b]), text("from")])
    add("names_case_differs.csv", "names that differ only in upper and lower case", "t,T,mass,Mass\n" + table(zip(a, c, b, [k + 1.5 for k in b])), n,
        [num("t", a), num("T", c), num("mass", b), num("Mass", [k + 1.5 for k in b])])
    add("names_years.csv", "years as names beside a text column", "country,2019,2020,2021\n" + table(zip(CITIES, a, c, b)), n,
        [text("country"), num("2019", a), num("2020", c), num("2021", b)])


# ================================================================ identifiers, dates, places

def identifiers_and_dates():
    n = 40
    m, w = series(190, n, 70, 12, 1), series(191, n, 5, 2, 2)
    cust = [f"{4711 + 13 * k:08d}" for k in range(n)]
    add("ids_leading_zeros.csv", "customer numbers with leading zeros, unordered",
        "customer_no,amount\n" + table((cust[k * 7 % n], m[k]) for k in range(n)), n,
        [ident("customer_no", [4711 + 13 * (k * 7 % n) for k in range(n)]), num("amount", m)])
    zips = ["02139", "10115", "60601", "94105", "00501", "33101", "73301", "98101"]
    z = pick(192, n, zips)
    add("ids_zip.csv", "postal codes with leading zeros", "name,zip,amount\n" + table((NAMES[k % 20], z[k], m[k]) for k in range(n)), n,
        [text("name"), ident("zip", [int(v) for v in z]), num("amount", m)])
    plz = pick(193, n, ["10115", "20095", "80331", "50667", "01067", "04109", "70173"])
    add("ids_plz.csv", "German postal codes, decimal commas", "PLZ;Ort;Miete\n" + table(((plz[k], CITIES[k % 20], comma(w[k] + 5, 2)) for k in range(n)), ";"), n,
        [ident("PLZ", [int(v) for v in plz]), text("Ort"), num("Miete", [round(v + 5, 2) for v in w])])
    oid = [100231 + k * 3 + k % 2 for k in range(n)]
    add("ids_sorted.csv", "unique whole numbers in rising order: order_id", "order_id,weight,amount\n" + table(zip(oid, w, m)), n,
        [ident("order_id", oid), num("weight", w), num("amount", m)])
    add("ids_long.csv", "19-digit ids, beyond what a float can hold (compare roughly)", "tweet_id,likes,ratio\n"
        + table((1234567890123456789 + 1_000_003 * k, k * k % 53, w[k]) for k in range(n)), n,
        [ident("tweet_id", [1234567890123456789 + 1_000_003 * k for k in range(n)]), num("likes", [k * k % 53 for k in range(n)]), num("ratio", w)])
    ep = [1672531200 + 600 * k for k in range(n)]
    add("epoch_seconds.csv", "epoch seconds", "timestamp,load,temp\n" + table(zip(ep, w, m)), n, [ident("timestamp", ep), num("load", w), num("temp", m)])
    add("epoch_millis.csv", "epoch milliseconds", "ts,load,temp\n" + table((1000 * e + 123, x, y) for e, x, y in zip(ep, w, m)), n,
        [ident("ts", [1000 * e + 123 for e in ep]), num("load", w), num("temp", m)])
    add("epoch_fraction.csv", "epoch seconds with decimals (time.time())", "time,load\n" + table((f"{e + .25:.6f}", x) for e, x in zip(ep, w)), n,
        [ident("time", [e + .25 for e in ep]), num("load", w)])
    ymd = [int(f"{d:%Y%m%d}") for d in days(n)]
    add("yyyymmdd.csv", "dates as yyyymmdd", "date,low,high\n" + table(zip(ymd, w, m)), n, [ident("date", ymd), num("low", w), num("high", m)])
    add("dates_iso.csv", "ISO dates and times with T and Z; fractions of seconds", "day,stamp,precise,value\n"
        + table((d, s.strftime("%Y-%m-%dT%H:%M:%SZ"), s.strftime("%Y-%m-%d %H:%M:%S.125"), v) for d, s, v in zip(days(n), minutes(n, 7), m)), n,
        [date("day"), date("stamp"), date("precise"), num("value", m)])
    add("dates_german.csv", "dd.mm.yyyy dates and hh:mm times, decimal commas", "Datum;Uhrzeit;Wert\n"
        + table(((f"{d:%d.%m.%Y}", f"{6 + k % 12:02d}:{k * 7 % 60:02d}", comma(m[k])) for k, d in enumerate(days(n))), ";"), n,
        [date("Datum"), date("Uhrzeit"), num("Wert", m)])
    add("dates_german_short.csv", "d.m.yy dates such as 3.1.23 with decimal points elsewhere", "Datum;Wert\n"
        + table(((f"{d.day}.{d.month}.{d:%y}", m[k]) for k, d in enumerate(days(n))), ";"), n, [date("Datum"), num("Wert", m)])
    add("dates_us.csv", "mm/dd/yyyy with times, AM and PM", "when,start,value\n"
        + table((f"{s:%m/%d/%Y %I:%M %p}", f"{s.month}/{s.day}/{s.year}", v) for s, v in zip(minutes(n, 700), m)), n,
        [date("when"), date("start"), num("value", m)])
    add("dates_months.csv", "months as 2020-01 and as Jan 2020", "month,label,value\n"
        + table((f"{2020 + k // 12}-{k % 12 + 1:02d}", datetime.date(2020 + k // 12, k % 12 + 1, 1).strftime("%b %Y"), v) for k, v in enumerate(m)), n,
        [date("month"), date("label"), num("value", m)])
    yr = list(range(1984, 1984 + n))
    add("year_column.csv", "a year column: a number", "Year,Anomaly\n" + table(zip(yr, [point(v - 5, 2) for v in w])), n,
        [num("Year", yr), num("Anomaly", [round(v - 5, 2) for v in w])])
    lat, lon = series(194, n, 48, 6, 6), series(195, n, 3, 14, 6)
    add("lat_lon.csv", "latitude and longitude with six decimals, depth", "place,latitude,longitude,depth\n"
        + table((CITIES[k % 20], point(lat[k], 6), point(lon[k], 6), w[k]) for k in range(n)), n,
        [text("place"), num("latitude", lat), num("longitude", lon), num("depth", w)])
    add("text_that_looks_numeric.csv", "addresses, versions, telephone numbers, ranges, sizes and part codes stay text",
        "ip,version,phone,range,size,part,score\n"
        + table((f"10.0.{k % 7}.{k * 11 % 250}", f"{k % 3}.{k % 10}.{k % 4}", f"+49 30 {900182 + k * 37}-0", f"{k}-{k + 10}", f"{k % 5 + 1}x{k % 7 + 2}",
                 f"{100 + k}-{'ABC'[k % 3]}{k % 9}", m[k]) for k in range(n)), n,
        [text("ip"), text("version"), text("phone"), text("range"), text("size"), text("part"), num("score", m)])
    hashes = ["3e41f09", "1204e77", "9981123", "a77c0d1", "5512e10", "0bd3f21", "77e0012", "c01a2b3", "4410987", "e19f003"]
    add("text_hashes.csv", "short hashes: some look like numbers or exponents, the column is text",
        "commit,lines\n" + table((h, (k * 31) % 47) for k, h in enumerate(hashes)), 10, [text("commit"), num("lines", [(k * 31) % 47 for k in range(10)])])


# ================================================================ sizes

def sizes():
    n = 8
    grid = [series(200 + j, n, j, 3, 1) for j in range(200)]
    add("wide_200_columns.csv", "200 numeric columns, 8 rows", ",".join(f"ch{j:03d}" for j in range(200)) + "\n" + table(zip(*grid)), n,
        [num(f"ch{j:03d}", grid[j]) for j in range(200)])
    long = "The patient reports, among other things, that the pain began on Monday. " * 70
    a = series(401, 12, 37.5, 1, 1)
    add("long_text.csv", "text cells of 5000 characters, in quotes with commas",
        "case,note,temp\n" + table((f"c{k}", f'"{long}"' if k % 4 == 1 else "none", a[k]) for k in range(12)), 12, [text("case"), text("note"), num("temp", a)])
    add("long_line.csv", "one line of 300 kB (a text cell), the others short",
        "case,blob,temp\n" + table((f"c{k}", "QUJD" * 75_000 if k == 7 else "QUJD", a[k]) for k in range(12)), 12, [text("case"), text("blob"), num("temp", a)])
    add("few_rows.csv", "only five rows", "x,y\n1.5,2\n1.7,3\n9.9,2\n1.4,4\n1.6,3\n", 5, [num("x", [1.5, 1.7, 9.9, 1.4, 1.6]), num("y", [2, 3, 2, 4, 3])])


# ================================================================ files as institutions write them

def institutions():
    n = 24
    years = list(range(2010, 2023))
    lands = [(f"{c}land", c[:3].upper()) for c in CITIES] + [("Cote d'Ivoire", "CIV"), ("Korea, Rep.", "KOR"), ("Egypt, Arab Rep.", "EGY"), ("Bahamas, The", "BHS")]
    vals = {y: holes(series(y, n, 9, 8, 9), *((1, 5, 20) if y < 2014 else (5,))) for y in years}
    add("worldbank_wide.csv", "World Bank: BOM, four title lines (two blank), quoted, a trailing comma on each line, years as columns, last year empty",
        '\ufeff"Data Source","World Development Indicators",\r\n\r\n"Last Updated Date","2023-10-26",\r\n\r\n'
        + ",".join(f'"{h}"' for h in ["Country Name", "Country Code", "Indicator Name", "Indicator Code"] + years + [2023]) + ",\r\n"
        + "".join(",".join([f'"{lands[k][0]}"', f'"{lands[k][1]}"', '"Exports, total (% of GDP)"', '"NE.EXP.GNFS.ZS"']
                           + [f'"{"" if vals[y][k] is None else repr(vals[y][k])}"' for y in years] + ['""']) + ",\r\n" for k in range(n)), n,
        [text("Country Name"), text("Country Code"), text("Indicator Name"), text("Indicator Code")] + [num(str(y), vals[y]) for y in years] + [empty("2023")])

    n = 60
    fx, tm, rs = series(410, n, 11, 5, 1), series(411, n, 4, 6, 1), [round(max(v, 0), 1) for v in series(412, n, 1, 5, 1)]
    fx = [-999 if k in (4, 5) else v for k, v in enumerate(fx)]
    ymd = [int(f"{d:%Y%m%d}") for d in days(n, (2020, 1, 1))]
    add("weather_daily.txt", "German weather service: semicolons, padded numbers and names, -999 stays a number, a last column eor",
        "STATIONS_ID;MESS_DATUM;QN_3;  FX;QN_4; RSK; TMK;eor\n"
        + "".join(f"{1048:>11};{ymd[k]};{10 if k % 9 else 3:>5};{fx[k] if fx[k] == -999 else point(fx[k]):>6};{3:>5};{rs[k]:>6.1f};{tm[k]:>6.1f};eor\n" for k in range(n)), n,
        [ident("STATIONS_ID", [1048] * n), ident("MESS_DATUM", ymd), unclear("QN_3", [10 if k % 9 else 3 for k in range(n)]), num("FX", fx),
         unclear("QN_4", [3] * n), num("RSK", rs), num("TMK", tm), text("eor")])
    tt, rf = series(413, n, 3, 4, 1), series(414, n, 83, 9, 1)
    hrs = [int(s.strftime("%Y%m%d%H")) for s in minutes(n, 60, (2021, 2, 1, 0, 0))]
    add("weather_hourly.txt", "German weather service, hourly: yyyymmddhh times, padded, CRLF, eor",
        "STATIONS_ID;MESS_DATUM;QN_9;TT_TU;RF_TU;eor\r\n"
        + "".join(f"{44:>11};{hrs[k]};{3:>5};{tt[k]:>7.1f};{rf[k]:>7.1f};eor\r\n" for k in range(n)), n,
        [ident("STATIONS_ID", [44] * n), ident("MESS_DATUM", hrs), unclear("QN_9", [3] * n), num("TT_TU", tt), num("RF_TU", rf), text("eor")])
    tk, rr = holes(series(415, n, 281, 5, 2), 3, 19), holes(series(416, n, 2, 1.5, 1), 3, 8, 9, 30, 44)
    add("weather_synop.csv", "French weather service: semicolons, mq (manquant) for missing, station numbers with leading zeros",
        "numer_sta;date;t;rr3\n" + "".join(f"{7005 + 15 * (k % 4):05d};{hrs[k]}0000;{'mq' if tk[k] is None else format(tk[k], '.6f')};{'mq' if rr[k] is None else format(rr[k], '.6f')}\n" for k in range(n)), n,
        [ident("numer_sta", [7005 + 15 * (k % 4) for k in range(n)]), ident("date", [h * 10000 for h in hrs]), num("t", tk), num("rr3", rr)])

    geo = "AT BE BG CH CY CZ DE DK EE EL ES FI FR HR HU IE IS IT LT LU".split()
    ys = [2018, 2019, 2020, 2021, 2022]
    v = {y: holes(series(3000 + y, 20, 12, 5, 1), *((3, 16) if y < 2020 else (16,))) for y in ys}
    flag = {(2022, 1): " p", (2022, 6): " p", (2022, 9): " ep", (2020, 12): " b", (2021, 4): " e", (2019, 8): " bu"}
    add("eurostat.tsv", "Eurostat: first column with commas inside, ': ' for missing (also ': c'), flags after values (12.3 p: 12.3), blanks after cells",
        "freq,unit,age,geo\\TIME_PERIOD\t" + "\t".join(f"{y} " for y in ys) + "\n"
        + "".join(f"A,PC,Y15-74,{g}\t" + "\t".join((": c" if (y, k) == (2021, 16) else ": ") if v[y][k] is None else point(v[y][k]) + flag.get((y, k), " ") for y in ys) + "\n"
                  for k, g in enumerate(geo)), 20,
        [text("freq,unit,age,geo\\TIME_PERIOD")] + [num(str(y), v[y]) for y in ys])

    n = 32
    crp, hb, na, kreat = [round(abs(x), 1) for x in series(420, n, 6, 6, 1)], series(421, n, 13.8, 2, 1), series(422, n, 140, 5, 0), series(423, n, .95, .3, 2)
    note = ["", '"hämolytisch; wiederholen"']
    add("hospital_lab.csv", "hospital laboratory: Latin-1, semicolons, decimal commas, dates and times, a comment column, case numbers, CRLF",
        '"Fallnummer";"Patient";"Geschlecht";"Abnahme";"CRP [mg/l]";"Hb [g/dl]";"Natrium [mmol/l]";"Kreatinin [mg/dl]";"Nüchtern";"Bemerkung"\r\n'
        + "".join(f'{70013344 + 17 * k};"{NAMES[k % 20]}, {"Müller Schäfer Weiß Özdemir".split()[k % 4]}";"{"mw"[k % 3 == 0]}";{s:%d.%m.%Y %H:%M};'
                  f'{comma(crp[k], 1, "") if k != 13 else "n.n."};{comma(hb[k])};{na[k]};{comma(kreat[k], 2)};{"ja" if k % 4 else "nein"};{note[k == 20]}\r\n'
                  for k, s in enumerate(minutes(n, 95, (2023, 5, 8, 6, 30)))), n,
        [ident("Fallnummer", [70013344 + 17 * k for k in range(n)]), text("Patient"), text("Geschlecht"), date("Abnahme"), num("CRP [mg/l]", holes(crp, 13)),
         num("Hb [g/dl]", hb), num("Natrium [mmol/l]", na), num("Kreatinin [mg/dl]", kreat), yesno("Nüchtern", [1 if k % 4 else 0 for k in range(n)]), text("Bemerkung")], "latin-1")

    amt = series(424, n, -150, 1500, 2)
    bal, s = [], 5210.44
    for x in amt:
        s = round(s + x, 2)
        bal.append(s)
    add("bank_german.csv", "German bank statement: Latin-1, preamble of name;value lines, decimal commas, thousands points, dd.mm.yyyy",
        '"Kontonummer:";"DE00 1234 5678 9012 3456 00 / Girokonto";\r\n\r\n"Von:";"01.03.2023";\r\n"Bis:";"01.04.2023";\r\n'
        f'"Kontostand vom 01.04.2023:";"{german(bal[-1])} EUR";\r\n\r\n'
        '"Buchungstag";"Empfänger";"Verwendungszweck";"Betrag (EUR)";"Saldo (EUR)";\r\n'
        + "".join(f'"{d:%d.%m.%Y}";"{["Stadtwerke", "Bäckerei Groß", "Miete; März", "Gehalt"][k % 4]}";"RG {k + 17}/2023, Kd. {90 + k}";"{german(amt[k])}";"{german(bal[k])}";\r\n'
                  for k, d in enumerate(days(n, (2023, 3, 1)))), n,
        [date("Buchungstag"), text("Empfänger"), text("Verwendungszweck"), num("Betrag (EUR)", amt), num("Saldo (EUR)", bal)], "latin-1")
    debit, credit = holes([abs(x) for x in series(425, n, 80, 60, 2)], *range(0, n, 3)), holes(series(426, n, 900, 300, 2), *[k for k in range(n) if k % 3])
    add("bank_us.csv", "American bank statement: title lines, separate debit and credit columns (each with many empty cells), thousands in quotes, check numbers",
        "Account Name : CHECKING\nAccount Number : xxxx1234\nDate Range : 03/01/2023-03/31/2023\n\nDate,Description,Check Number,Debit,Credit\n"
        + "".join(f'{d:%m/%d/%Y},"{CITIES[k % 20]} STORE #{k:03d}, PURCHASE",{1501 + k if k % 5 == 1 else ""},'
                  f'{"" if debit[k] is None else format(debit[k], ".2f")},{"" if credit[k] is None else chr(34) + format(credit[k], ",.2f") + chr(34)}\n' for k, d in enumerate(days(n, (2023, 3, 1)))), n,
        [date("Date"), text("Description"), ident("Check Number", [1501 + k if k % 5 == 1 else None for k in range(n)]), num("Debit", debit), num("Credit", credit)])

    n = 45
    g = [series(430 + j, n, [0.02, -0.01, 9.81][j], .05, 3) for j in range(3)]
    add("sensor_log.txt", "sensor log: two banner lines, timestamps with milliseconds, ', ' between, a comma at the end of each data line only",
        "=== LOG START ===\nFW 1.4.2\ntime, ax, ay, az\n" + "".join(f"{datetime.datetime(2023, 6, 1, 12, 0, k).isoformat()}.{k * 17 % 1000:03d}, {g[0][k]:.3f}, {g[1][k]:.3f}, {g[2][k]:.3f},\n" for k in range(n)), n,
        [date("time"), num("ax", g[0]), num("ay", g[1]), num("az", g[2])])
    q1, q2 = pick(440, 30, [1, 2, 3, 4, 5]), pick(441, 30, [1, 2, 3, 4, 5])
    sec = series(442, 30, 240, 120, 0)
    add("survey_form.csv", "survey download: long questions as names with commas and quotes, answers with semicolons, one skipped answer",
        '"Timestamp","How satisfied are you, overall? (1-5)","Would you recommend ""us""? (1-5)","What do you use?","Seconds taken"\r\n'
        + "".join(f'"{s:%Y/%m/%d %I:%M:%S %p} GMT+2","{"" if k == 12 else q1[k]}","{q2[k]}","{["Phone;Tablet", "Phone", "Laptop, old;Phone"][k % 3]}","{sec[k]}"\r\n' for k, s in enumerate(minutes(30, 61))), 30,
        [date("Timestamp"), num("How satisfied are you, overall? (1-5)", holes(q1, 12)), num('Would you recommend "us"? (1-5)', q2), text("What do you use?"), num("Seconds taken", sec)])


# ================================================================ packed files and JSON

def packed_and_json():
    n = 30
    a, b = series(450, n, 15, 4, 1), series(451, n, 200, 50, 0)
    body = table([["city", "temp", "count"]] + list(zip((CITIES * 2)[:n], a, b)))
    cols = [text("city"), num("temp", a), num("count", b)]
    add("packed.csv.gz", "gzip, named .csv.gz", gzip.compress(body.encode(), mtime=0), n, cols)
    add("packed_but_named.csv", "gzip inside, though the name ends in .csv", gzip.compress(body.encode(), mtime=0), n, cols)
    add("packed_latin1.csv.gz", "gzip around Latin-1, semicolons, decimal commas, a title line",
        gzip.compress(("Übersicht März\n" + table([["Stadt", "Höhe", "Zahl"]] + [(c, comma(x), y) for c, x, y in zip((CITIES * 2)[:n], a, b)], ";")).encode("latin-1"), mtime=0), n,
        [text("Stadt"), num("Höhe", a), num("Zahl", b)])
    rec = [{"city": (CITIES * 2)[k], "temp": a[k], "count": b[k]} for k in range(n)]
    add("records.json", "JSON: an array of records", json.dumps(rec, indent=2), n, cols)
    add("records_one_line.json", "JSON array without line breaks, non-ASCII names escaped, true/false and null",
        json.dumps([{"größe": None if k == 4 else a[k], "aktiv": k % 3 == 0, "tag": str(d)} for k, d in enumerate(days(n))]), n,
        [num("größe", holes(a, 4)), yesno("aktiv", [int(k % 3 == 0) for k in range(n)]), date("tag")])
    add("records_strings.json", "JSON records with all numbers as strings, empty string for missing",
        json.dumps([{"city": (CITIES * 2)[k], "temp": "" if k == 3 else str(a[k]), "count": str(b[k])} for k in range(n)], indent=1), n,
        [text("city"), num("temp", holes(a, 3)), num("count", b)])
    add("records_under_key.json", "a JSON object that holds the records under \"data\", beside other entries",
        json.dumps({"status": "ok", "meta": {"source": "api", "pages": [1, 2, 3]}, "count": n, "data": rec}, indent=2), n, cols)
    add("records_under_results.json", "a JSON object that holds the records under \"results\"",
        json.dumps({"next": None, "total": n, "results": rec}), n, cols)
    add("records_nan.json", "JSON records with NaN, as Python writes them",
        json.dumps([{"city": (CITIES * 2)[k], "temp": float("nan") if k in (2, 11) else a[k], "count": b[k]} for k in range(n)]), n,
        [text("city"), num("temp", holes(a, 2, 11)), num("count", b)])
    lines = []
    for k in range(n):
        r = {"ts": str(minutes(n, 5)[k]), "cpu": a[k], "mem": b[k]}
        if k % 6 == 4:
            del r["mem"]
        if k == 10:
            r["cpu"] = None
        if k >= 20:
            r["gpu"] = a[k] * 2
        lines.append(json.dumps(r))
    add("lines_missing_keys.jsonl", "JSON lines: keys missing, nulls, a key that first appears in line 21",
        "\n".join(lines) + "\n", n,
        [date("ts"), num("cpu", holes(a, 10)), num("mem", holes(b, *range(4, n, 6))), num("gpu", [None] * 20 + [a[k] * 2 for k in range(20, n)])])
    add("lines_named_json.json", "JSON lines, though the name ends in .json", "".join(json.dumps(r) + "\n" for r in rec), n, cols)
    add("lines_bom_blank.jsonl", "JSON lines with BOM, CRLF, blank lines between and none at the end",
        "\ufeff" + "\r\n".join(json.dumps(r, ensure_ascii=False) + ("\r\n" if k % 10 == 9 else "") for k, r in enumerate(rec)), n, cols)


for section in (titles, footers, line_lengths, no_header, number_forms, yes_no, encodings, comments_and_units, missing, quotes,
                delimiters, names, identifiers_and_dates, sizes, institutions, packed_and_json):
    section()


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python make.py FOLDER [expected.json]")
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data, _ in CASES:
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(data)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as f:
            f.write("{\n" + ",\n".join(json.dumps(n) + ": " + json.dumps(e, ensure_ascii=False, allow_nan=False) for n, _, e in CASES) + "\n}\n")


if __name__ == "__main__":
    main()
