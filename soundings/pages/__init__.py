"""The site's other pages: home, overview, activity, guide, errors, health."""
